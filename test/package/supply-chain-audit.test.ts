import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { audit, auditKnownBad, readAudit, readSignatures } from '../labs/supply/audit.ts'

/** Status and body of the registry's answers to `POST …/advisories/bulk`. */
let advisories: readonly [status: number, body: string]
let asked: string[]
let registry: Server
let folder: string
let options: string[]

const flaw = (severity: string): string =>
  JSON.stringify({
    leaky: [
      { id: 1, url: 'https://leaky.example', title: 't', severity, vulnerable_versions: '<2.0.0', cwe: [], cvss: {} },
    ],
  })

beforeAll(async () => {
  registry = createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if (request.url?.endsWith('/advisories/bulk')) asked.push(String(body[0] === 0x1f ? gunzipSync(body) : body))
    const [status, text] = request.method === 'POST' ? advisories : [200, packument(request.url ?? '')]
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  registry.listen(0, '127.0.0.1')
  await once(registry, 'listening')
  const { port } = registry.address() as AddressInfo
  folder = await mkdtemp(join(tmpdir(), 'sallyport-audited-'))
  options = [`--registry=http://127.0.0.1:${port}`, `--cache=${join(folder, 'cache')}`, '--fetch-retries=0']
  const root = { name: 'host', version: '1.0.0', dependencies: { leaky: '1.0.0' }, devDependencies: { tool: '1.0.0' } }
  const packages = {
    '': root,
    'node_modules/leaky': { version: '1.0.0' },
    'node_modules/tool': { version: '1.0.0', dev: true },
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(root))
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ ...root, lockfileVersion: 3, packages }))
})

afterAll(async () => {
  registry.close()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(() => {
  asked = []
})

describe('an audit by npm', () => {
  it('An audit is clean when the registry knows no advisory', async () => {
    advisories = [200, '{}']
    expect(await audit(folder, 'moderate', '--omit=dev', ...options)).toEqual({ verdict: 'clean' })
    expect(asked).toEqual(['{"leaky":["1.0.0"]}'])
  })

  it('An audit is bad for an advisory at or above the given severity', async () => {
    advisories = [200, flaw('moderate')]
    expect(await audit(folder, 'moderate', ...options)).toEqual({
      verdict: 'bad',
      found: ['leaky: moderate, https://leaky.example'],
    })
    expect(await audit(folder, 'high', ...options)).toEqual({ verdict: 'clean' })
  })

  it.each([
    [405, ''],
    [404, '{}'],
    [500, '{}'],
    [200, 'not JSON'],
  ])('An audit has no answer when the registry answers %i %s', async (...answer) => {
    advisories = answer
    expect(await audit(folder, 'moderate', ...options)).toMatchObject({ verdict: 'no_answer' })
  })

  it('An audit has no answer when the registry does not run', async () => {
    const offline = await audit(folder, 'moderate', ...options, '--registry=http://127.0.0.1:1')
    expect(offline).toMatchObject({ verdict: 'no_answer', because: expect.stringMatching(/./) })
  })

  it('A registry without an advisory for a known bad package gives no answer', async () => {
    advisories = [200, '{}']
    expect(await auditKnownBad(...options)).toMatchObject({ verdict: 'no_answer' })
    expect(asked).toEqual(['{"minimist":["0.0.8"]}'])
    advisories = [200, flaw('critical').replace('leaky', 'minimist')]
    expect(await auditKnownBad(...options)).toMatchObject({ verdict: 'bad' })
  })
})

describe('the output of npm', () => {
  it.each(['', 'null', '{}', '{"vulnerabilities":{}}', '{"auditReportVersion":2}', '{"error":{"summary":"gone"}}'])(
    'Output without an audit result gives no answer: %s',
    (stdout) => expect(readAudit(stdout, 'low').verdict).toBe('no_answer'),
  )

  it('Signatures are clean only when none is invalid or missing', () => {
    const [one] = [{ name: 'leaky', version: '1.0.0' }]
    expect(readSignatures('{"invalid":[],"missing":[]}')).toEqual({ verdict: 'clean' })
    expect(readSignatures(JSON.stringify({ invalid: [one], missing: [] })).verdict).toBe('bad')
    expect(readSignatures(JSON.stringify({ invalid: [], missing: [one] })).verdict).toBe('bad')
    expect(readSignatures('{"invalid":[]}').verdict).toBe('no_answer')
    expect(readSignatures('{"error":{"summary":"gone"}}')).toEqual({ verdict: 'no_answer', because: 'gone' })
    expect(readSignatures('', 'no network')).toEqual({ verdict: 'no_answer', because: 'no network' })
  })
})

/** npm reads the versions of a package in an advisory to find its dependants. */
function packument(url: string): string {
  const name = url.slice(1)
  const version = name === 'minimist' ? '0.0.8' : '1.0.0'
  return JSON.stringify({
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { name, version, dist: {} } },
  })
}

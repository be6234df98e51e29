import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serviceOrSkip } from '../queues/services.ts'
import { readJson } from '../support/entries.ts'
import { HANG_MS } from '../support/unhurried.ts'
import { bin, execute, packTarball, type Tarball } from './tarball.ts'

const { dependencies, peerDependencies, devDependencies, overrides } = readJson('package.json')
const RANGES: readonly [name: string, range: string][] = Object.entries({ ...dependencies, ...peerDependencies })
/** What the program needs besides: a driver of SQLite, and Redis for bullmq. */
const DRIVERS = ['ioredis', 'libsql'].map((name) => `${name}@${devDependencies[name]}`)

const hasRedis = (await serviceOrSkip('redis')) !== describe.skip
const redisPrefix = `sallyport-test-${randomUUID()}`

let folder: string
let tarball: Tarball
let letters: string[]
const mailServer = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, _session, callback) {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      letters.push(Buffer.concat(chunks).toString())
      callback()
    })
  },
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-versions-'))
  tarball = await packTarball(folder)
  mailServer.listen(0, '127.0.0.1')
  await once(mailServer.server, 'listening')
}, HANG_MS)

afterAll(async () => {
  await new Promise<void>((closed) => mailServer.close(closed))
  await rm(folder, { recursive: true, force: true })
  if (!hasRedis) return
  const redis = new Redis()
  const keys = await redis.keys(`${redisPrefix}*`)
  if (keys.length > 0) await redis.del(keys)
  redis.disconnect()
})

describe.each([
  ['lowest', (range: string): string => lowestOf(range)],
  ['newest', (range: string): string => range],
])('with the %s version of every dependency and peer', (which, versionOf) => {
  let project: string

  beforeAll(async () => {
    project = join(folder, which)
    await mkdir(project)
    for (const files of ['versions/', 'consumer/'])
      await cp(new URL(files, import.meta.url), project, { recursive: true })
    await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', overrides }))
    const packages = RANGES.map(([name, range]) => `${name}@${versionOf(range)}`)
    const options = ['--no-audit', '--no-fund', '--prefix', project]
    await execute({ cwd: project }, 'npm', 'install', ...options, tarball.path, ...packages, ...DRIVERS)
  }, HANG_MS)

  it('Sallyport gets exactly these versions', () => {
    expect(existsSync(join(project, 'node_modules/sallyport/node_modules'))).toBe(false)
    const installed = RANGES.map(([name]) => `${name}@${versionIn(project, name)}`)
    console.log(`${which}: ${installed.join(' ')}`)
    if (which === 'lowest') expect(installed).toEqual(RANGES.map(([name, range]) => `${name}@${lowestOf(range)}`))
  })

  it('Events, tokens, mail, webhooks, costs, spans, limits, the SQL store and the queue work', async () => {
    letters = []
    const { port } = mailServer.server.address() as AddressInfo
    const env = { ...process.env, SMTP_PORT: String(port), ...(hasRedis && { REDIS_PREFIX: redisPrefix }) }
    const report = JSON.parse(await execute({ cwd: project, env }, process.execPath, 'use-all.mjs'))
    expect(report).toEqual({
      valibot: [
        [202, 'queued'],
        [422, 'validation_failed'],
      ],
      conditions: ['skipped condition_false'],
      webhooks: [expect.any(String), expect.any(String), expect.any(String)],
      tokens: [201, 401],
      limited: [201, 200, 429],
      priced: 'string',
      spans: [['invoke_agent', 1_000]],
      openapi: ['3.1.1', ['eventType', 'recipient'], ['order.shipped', 'order.synced']],
      queue: hasRedis ? 'woken' : 'absent',
      sendings: [
        'email sent -',
        'email skipped -',
        'webhook failed address_forbidden',
        'webhook failed address_forbidden',
        'webhook failed address_forbidden',
      ],
    })
    expect(letters).toEqual([expect.stringMatching(/Subject: Order a-1\s[\s\S]*Order A-1\s[\s\S]*a-1: 24/)])
  })

  it('The declarations compile', async () => {
    await execute({ cwd: project }, process.execPath, bin('typescript', 'tsc'), '-p', '.')
  })
})

/** The first version of a range. */
function lowestOf(range: string): string {
  const [version = ''] = /\d+(?:\.\d+)*/.exec(range) ?? []
  return [...version.split('.'), '0', '0'].slice(0, 3).join('.')
}

function versionIn(project: string, name: string): string {
  return JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8')).version
}

import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toNode } from '../../src/adapters/node.ts'
import { openapiDocument } from '../../src/openapi/index.ts'
import { ROOT } from '../support/entries.ts'
import { compiled, EXACT, STRICT } from './compile.ts'
import { type Generator, HEY_API, KUBB, MISTAKES, OAZAPFTS, ORVAL } from './generators.ts'
import { exampleHost } from './host.ts'

/**
 * The other generators are too large to be dependencies. To test them:
 * `npm i --prefix /a/folder orval@… @hey-api/openapi-ts@… @kubb/…`, with the versions of `generators.ts`, then
 * `SALLYPORT_GENERATORS=/a/folder npx vitest run --config test/vitest.config.ts test/openapi/generators.test.ts`
 */
const elsewhere = process.env.SALLYPORT_GENERATORS
const OWN = fileURLToPath(new URL('node_modules', ROOT))
const absent = elsewhere === undefined
if (absent)
  console.warn('skipped: clients of orval, @hey-api/openapi-ts and kubb: SALLYPORT_GENERATORS names no folder')

const PRINTED = `email queued no reason needed
sms skipped condition_false
completed 310
422 No event has this name. Near: order.shipped.
`

/** A folder in which a generator has written its client. */
function generate({ program, args, config }: Generator, modules: string, url: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-generator-'))
  symlinkSync(modules, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openapiDocument({ servers: [{ url }] })))
  if (config) writeFileSync(join(folder, config.file), config.text)
  execFileSync(process.execPath, [join(modules, program), ...args], { cwd: folder, stdio: 'pipe' })
  return folder
}

/** Compiles the program and one copy of it for each mistake. Returns their errors, and last those of the client. */
function compileUses(folder: string, { isExact, use }: Generator): readonly (readonly string[])[] {
  const uses = [use, ...MISTAKES.map(([right, wrong]) => use.replaceAll(right, wrong))]
  const files = uses.map((program, at) => {
    const file = join(folder, `use-${at}.ts`)
    writeFileSync(file, program)
    return file
  })
  return compiled(files, isExact ? EXACT : STRICT)
}

describe('a client that a generator wrote', () => {
  let host: Server
  let url = ''
  beforeEach(async () => {
    host = createServer(toNode(exampleHost().sallyport)).listen(0, '127.0.0.1')
    await once(host, 'listening')
    url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    host.closeAllConnections()
    host.close()
    await once(host, 'close')
  })

  const generators = [
    [OAZAPFTS, OWN, false],
    ...[ORVAL, HEY_API, KUBB].map((one) => [one, join(elsewhere ?? '', 'node_modules'), absent] as const),
  ] as const
  for (const [generator, modules, isAbsent] of generators) {
    it.skipIf(isAbsent)(
      `The client of ${generator.name} compiles, finds mistakes and calls a host`,
      async () => {
        const folder = generate(generator, modules, url)
        try {
          const [own, ...others] = compileUses(folder, generator)
          expect([own, others.at(-1)]).toEqual([[], []])
          const passed = MISTAKES.filter((_, at) => others[at]?.length === 0).map(([right]) => right)
          expect(passed).toEqual(generator.misses ?? [])
          const env = { ...process.env, SALLYPORT_URL: url, APP_SECRET: 'app' }
          const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'out', 'use-0.js')], { env })
          expect(stdout).toBe(PRINTED)
        } finally {
          rmSync(folder, { recursive: true })
        }
      },
      120_000,
    )
  }
})

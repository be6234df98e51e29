import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAppSecret } from '../../src/auth/app-secret.ts'
import { sessionTokens } from '../../src/auth/session-tokens.ts'
import type { Sallyport } from '../../src/compose/create-sallyport.ts'
import { findRecords, putRecords } from '../support/records.ts'
import { type Ran, type RunMore, runIn } from './run-in.ts'
import { sallyport as hostOf } from './sallyport.ts'

const MODULE = fileURLToPath(new URL('sallyport.ts', import.meta.url))
const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const TOKEN_KEY = Buffer.alloc(32, 7).toString('base64url')

const STATUSES = ['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled']

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-cli-'))
  process.env.CLI_TEST_FILE = join(folder, 'test.db')
})
afterEach(() => {
  delete process.env.CLI_TEST_FILE
  delete process.env.CLI_TEST_AHEAD_MS
  rmSync(folder, { recursive: true })
})

/** Runs a command line in the folder of the test. */
function ran(args: readonly string[], more: RunMore = {}): Promise<Ran> {
  return runIn(folder, args, { env: { SALLYPORT_MODULE: MODULE }, ...more })
}

async function keepRecord({ store }: Pick<Sallyport, 'store'>, kind: string): Promise<void> {
  const name = { kind, tenant: 'default', key: 'a' }
  await putRecords(store, { ...name, sort: [], body: {} })
}

/** A migrated host with dispatches whose deliveries were rejected. */
async function filled(
  count: number,
  recipient = 'jane@example.com',
): Promise<{ host: Sallyport<unknown>; ids: string[] }> {
  const host = hostOf()
  await (host.store as unknown as { migrate(): Promise<void> }).migrate()
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const result = await host.dispatch({ eventType: 'hello', recipient } as never)
    if (!result.ok) throw new Error(result.body.code)
    ids.push(result.body.dispatchId)
  }
  await host.worker.runDue()
  return { host, ids }
}

describe('secrets', () => {
  it('secret prints a valid secret alone when piped, and all of it as JSON', async () => {
    const { code, out } = await ran(['secret', '--env', 'test'])
    expect([code, isAppSecret(out.trim()), out.startsWith('sp_test_')]).toEqual([0, true, true])
    expect(Object.keys(JSON.parse((await ran(['secret', '--json'])).out))).toEqual(['id', 'secret', 'sha256'])
    expect((await ran(['secret'], { isInteractive: true })).out).toMatch(
      /^secret {2}sp_live_\w+\nid {6}app_\w+\nsha256 {2}\w+\n$/,
    )
  })

  it('token prints a token that sessionTokens accepts, with exactly its grants', async () => {
    const args = ['--session', 's1', '--kid', 'k1', '--audience', 'shop', '--user', 'u1', '--expires-in', '5m']
    const grants = ['--event', 'hello', '--event', 'bye', '--channel', 'email', '--recipient', 'jane']
    const asking = ['--approval', 'refund.approval']
    const { code, out } = await ran(['token', ...args, ...grants, ...asking], {
      env: { SALLYPORT_TOKEN_KEY: TOKEN_KEY },
    })
    const verifier = sessionTokens({ keys: [{ kid: 'k1', key: TOKEN_KEY }], audience: 'shop' })
    expect([code, await verifier.verify(out.trim(), 'dispatch')]).toMatchObject([
      0,
      {
        sessionId: 's1',
        userId: 'u1',
        dispatch: { events: ['hello', 'bye'], channels: ['email'], recipients: ['jane'] },
        approval: { events: ['refund.approval'] },
      },
    ])
  })

  it.each([
    [['token'], /SALLYPORT_TOKEN_KEY is not set/, {}],
    [['token', '--kid', 'k'], /--session is required/, { SALLYPORT_TOKEN_KEY: TOKEN_KEY }],
    [['token', '--session', 's', '--kid', 'k', '--audience', 'a'], /key/, { SALLYPORT_TOKEN_KEY: 'short' }],
    [
      ['token', '--session', 's', '--event', 'hello'],
      /--event, --channel and --recipient/,
      { SALLYPORT_TOKEN_KEY: TOKEN_KEY },
    ],
    [['secret', '--env', 'No!'], /must be 1 to 16/, {}],
  ] as const)('%j is refused with 2', async (args, message, env) => {
    const { code, out, err } = await ran(args, { env })
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(message)
    expect(err).not.toContain(TOKEN_KEY)
  })
})

describe('migrate', () => {
  it('migrate --dry-run prints the SQL and changes nothing; migrate runs it once', async () => {
    const dry = await ran(['migrate', '--dry-run'])
    expect([dry.code, dry.err]).toEqual([0, ''])
    expect(dry.out).toMatch(/^-- 0001_tables\ncreate table if not exists "sallyport_migrations"[\s\S]*;\n$/)
    expect((await ran(['status'])).code).toBe(4)
    expect(await ran(['migrate'])).toEqual({ code: 0, out: '0001_tables\n0002_plugins\n', err: '' })
    expect(await ran(['migrate'])).toEqual({ code: 0, out: '', err: 'Nothing is pending.\n' })
    expect((await ran(['migrate', '--dry-run', '--json'])).out).toBe('{"pending":[]}\n')
    expect((await ran(['status'])).code).toBe(0)
  })
})

describe('dispatches', () => {
  it('list prints lines for programs, a table for people, and JSON', async () => {
    const { ids } = await filled(3)
    const piped = await ran(['list', '--status', 'failed', '--limit', '2', '--since', '1h'])
    const lines = piped.out.trimEnd().split('\n')
    expect(lines.map((line) => line.split('\t').slice(0, 4))).toEqual([
      [ids[2], 'failed', 'hello', 'jane@example.com'],
      [ids[1], 'failed', 'hello', 'jane@example.com'],
    ])
    const [, cursor = ''] = /--cursor '(.+)'/.exec(piped.err) ?? []
    const last = await ran(['list', '--cursor', cursor, '--status', 'failed', '--since', '1h'])
    expect(last.out.split('\t')[0]).toBe(ids[0])
    const [header = '', first = ''] = (await ran(['list'], { isInteractive: true })).out.split('\n')
    expect(header).toMatch(/^DISPATCH +STATUS +EVENT +RECIPIENT +CREATED +DELIVERIES$/)
    expect(first).toContain('email:provider_rejected')
    expect(JSON.parse((await ran(['list', '--json', '--limit', '1'])).out).items).toHaveLength(1)
    expect((await ran(['list', '--until', '1h'])).out).toBe('')
    expect((await ran(['list', '--reason', 'provider_rejected'])).out).toBe((await ran(['list'])).out)
    expect((await ran(['list', '--reason', 'suppressed'])).out).toBe('')
  })

  it('Control characters of a caller reach no terminal', async () => {
    await filled(1, 'a\u001b[2J\n\tb@example.com')
    for (const isInteractive of [true, false]) {
      const { out } = await ran(['list'], { isInteractive })
      expect(out.replaceAll('\n', '').replaceAll('\t', '')).not.toMatch(/\p{Cc}/u)
      expect(out).toContain('a?[2J??b@example.com')
    }
  })

  it('JSON has no character that drives a terminal or changes the direction of text', async () => {
    const recipient = 'a\u009b2J\u007f\u202eb\u2028'
    await filled(1, recipient)
    const { out } = await ran(['list', '--json'], { isInteractive: true })
    expect(out).not.toMatch(/[\u007f-\u009f\u2028\u202e]/)
    expect(JSON.parse(out).items[0].recipient).toBe(recipient)
    expect((await ran(['list'])).out).toContain('a?2J??b?')
  })

  it('retry retries known ids, and exits with 3 for an unknown one', async () => {
    const { host, ids } = await filled(2)
    const { code, out } = await ran(['retry', ...ids, 'dsp_x'])
    expect([code, out]).toEqual([3, `${ids[0]}\temail\n${ids[1]}\temail\ndsp_x\tnot found\n`])
    expect((await host.dispatches.get(ids[0] ?? ''))?.status).toBe('queued')
    expect(await ran(['retry', ids[0] ?? '', '--channel', 'sms'])).toEqual({
      code: 0,
      out: `${ids[0]}\tnothing\n`,
      err: '',
    })
  })

  it('status shows the number of dispatches of each status', async () => {
    await filled(2)
    expect(JSON.parse((await ran(['status', '--json'])).out)).toMatchObject({
      ready: true,
      dispatches: [0, 0, 0, 2, 0, 0].map((count, at) => ({ status: STATUSES[at], count, more: false })),
    })
    expect((await ran(['status', '--tenant', 'other'])).out).toContain('failed\t0\n')
  })

  it('retry says what cannot be planned again, and exits with 1', async () => {
    const module = join(folder, 'broken-template.mjs')
    writeFileSync(
      module,
      `const unplanned = [{ channel: 'email', code: 'template_error', detail: 'subject: the template threw' }]
      const dispatches = { retry: async () => ({ retried: [], unplanned }) }
      export default { endpoints: {}, runs: {}, ready() {}, dispatches }`,
    )
    expect(await ran(['retry', 'dsp_1', '--module', module])).toEqual({
      code: 1,
      out: 'dsp_1\tnothing\n',
      err: 'dsp_1: email cannot be planned again: subject: the template threw\n',
    })
  })

  it('status --json of a store that is not ready says so', async () => {
    const { code, out } = await ran(['status', '--json'])
    expect([code, JSON.parse(out)]).toEqual([4, { ready: false }])
  })

  it('erase removes the data of a recipient, only with --yes', async () => {
    const { host, ids } = await filled(1)
    expect((await ran(['erase', '--recipient', 'jane@example.com'])).code).toBe(2)
    const { code, out } = await ran(['erase', '--recipient', 'jane@example.com', '--yes'])
    expect([code, out]).toEqual([0, 'dispatches\t1\nruns\t0\n'])
    expect((await host.dispatches.get(ids[0] ?? ''))?.recipient).toBe('erased')
    expect((await ran(['erase', '--yes', '--recipient', 'a', '--session', 'b'])).err).toContain('give one of')
  })

  it('doctor finds records that cannot be read, and repairs them only with --yes', async () => {
    const { ids } = await filled(2)
    expect(await ran(['doctor'])).toEqual({ code: 0, out: '', err: 'Every record can be read.\n' })
    const database = new Database(process.env.CLI_TEST_FILE ?? '')
    database.prepare("update sallyport_states set body = '{\"a' where dispatch_id = ?").run(ids[0])
    database.close()
    expect(await ran(['doctor'])).toEqual({ code: 1, out: `states\t${ids[0]}\tbody\n`, err: '' })
    expect((await ran(['doctor', '--texts'])).out).toBe(`states\t${ids[0]}\tbody\t{"a\n`)
    const found = { table: 'states', key: { dispatch_id: ids[0] }, column: 'body' }
    expect(JSON.parse((await ran(['doctor', '--json'])).out)).toEqual({ unreadable: [found], absent: [] })
    expect((await ran(['doctor', '--repair'])).err).toContain('--yes is required')
    expect(await ran(['doctor', '--repair', '--yes'])).toMatchObject({
      code: 0,
      out: `states\t${ids[0]}\tbody\trepaired\n`,
    })
    expect((await ran(['doctor'])).code).toBe(0)
    expect((await ran(['status', '--json'])).out).toContain('"status":"failed","count":2')
  })

  it('doctor lists records of plugins that the host has not, and prune --kind removes these alone', async () => {
    const { host } = await filled(1)
    await keepRecord(host, 'ours.notes')
    await keepRecord(host, 'present.notes')
    const absent = { kind: 'ours.notes', plugin: 'ours' }
    expect(JSON.parse((await ran(['doctor', '--json'])).out)).toEqual({ unreadable: [], absent: [absent] })
    expect((await ran(['doctor'])).err).toBe(
      'Every record can be read.\nThere are ours.notes, and this host has no ours. prune --kind ours.notes removes them.\n',
    )
    for (const [args, said] of [
      [['--kind', 'ours.notes'], '--yes is required with --kind'],
      [['--kind', 'ours.notes', '--yes', '--tenant', 'a'], '--kind takes no --tenant'],
      [['--kind', 'ours.notes', '--yes', '--older-than', '1d'], 'give --older-than or --kind'],
      [['--kind', 'other', '--yes'], 'there are no records of the kind other'],
      [['--kind', 'present.notes', '--yes'], 'the host has the plugin present, which needs its records'],
    ] as const) {
      const { code, err } = await ran(['prune', ...args])
      expect([code, err]).toEqual([2, expect.stringContaining(said)])
    }
    expect(await ran(['prune', '--kind', 'ours.notes', '--yes', '--json'])).toMatchObject({
      code: 0,
      out: '{"pruned":{"ours.notes":1}}\n',
    })
    expect(JSON.parse((await ran(['doctor', '--json'])).out)).toEqual({ unreadable: [], absent: [] })
    expect(await findRecords(host.store, { kind: 'present.notes', tenant: 'default' }, 'a')).toHaveLength(1)
  })

  it('prune removes dispatches older than the given age', async () => {
    const { host, ids } = await filled(1)
    expect((await ran(['prune'])).code).toBe(2)
    const pruned = async (): Promise<unknown> => JSON.parse((await ran(['prune', '--older-than', '1d', '--json'])).out)
    expect(await pruned()).toMatchObject({ pruned: { dispatches: 0, runs: 0 } })
    process.env.CLI_TEST_AHEAD_MS = String(2 * 86_400_000)
    expect(await pruned()).toMatchObject({ pruned: { dispatches: 1, runs: 0 } })
    expect(await host.dispatches.get(ids[0] ?? '')).toBeUndefined()
  })

  it('retry prints what was retried before the store failed', async () => {
    const { ids } = await filled(1)
    const module = join(folder, 'failing.mjs')
    writeFileSync(
      module,
      `const ok = { retried: [{ channel: 'email' }], unplanned: [] }
      const retry = async (id) => { if (id === 'dsp_x') throw new Error('it is down'); return ok }
      export default { endpoints: {}, runs: {}, ready() {}, dispatches: { retry } }`,
    )
    expect(await ran(['retry', ids[0] ?? '', 'dsp_x', 'dsp_y', '--module', module])).toEqual({
      code: 1,
      out: `${ids[0]}\temail\n`,
      err: 'sallyport: it is down\n',
    })
  })
})

describe('wrong command lines', () => {
  it.each([
    [['lst'], /no command "lst"/],
    [['list', '--statsu', 'x'], /Unknown option '--statsu'/],
    [['list', '--status', 'gone'], /must be one of/],
    [['list', '--reason', 'gone'], /must be one of/],
    [['list', '--limit', '0'], /--limit must be a whole number from 1 to 500/],
    [['list', '--since', 'soon'], /--since must be/],
    [['list', '--since', '2026-02-30T00:00:00Z'], /--since must be/],
    [['list', 'dsp_1'], /takes options only/],
    [['list', '--module', 'nothing.js'], /there is no file nothing.js/],
    [['retry'], /give the id of a dispatch/],
    [['prune', '--older-than', '90'], /--older-than must be a duration/],
    [['prune', '--older-than', '0d'], /everything would be removed/],
    [['help', 'lst'], /no command "lst"/],
  ])('%j exits with 2', async (args, message) => {
    const { code, out, err } = await ran(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(message)
  })

  it('A module without a Sallyport, and no module at all, are wrong usage', async () => {
    writeFileSync(join(folder, 'other.mjs'), 'export default {}\n')
    expect(await ran(['list', '--module', 'other.mjs'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('exports no Sallyport'),
    })
    expect(await ran(['list'], { env: {} })).toMatchObject({ code: 2, err: expect.stringContaining('give --module') })
  })

  it('The default export is not called beside a Sallyport', async () => {
    const app = 'export default () => { throw new Error("the app was called") }'
    writeFileSync(join(folder, 'app.mjs'), `export { sallyport } from ${JSON.stringify(MODULE)}\n${app}\n`)
    await filled(1)
    expect(await ran(['status', '--module', 'app.mjs'])).toMatchObject({ code: 0, err: '' })
  })

  it('A module that throws exits with 1', async () => {
    writeFileSync(join(folder, 'broken.mjs'), 'throw new Error("no database")\n')
    expect(await ran(['list', '--module', 'broken.mjs'])).toMatchObject({
      code: 1,
      err: 'sallyport: broken.mjs cannot be loaded: no database\n',
    })
  })

  it('help lists the commands, and the options of one', async () => {
    expect((await ran([])).out).toMatch(/secret[\s\S]+erase[\s\S]+Exit codes/)
    for (const name of ['init', 'secret', 'token', 'migrate', 'status', 'list', 'retry', 'prune', 'erase', 'doctor'])
      expect((await ran(['help', name])).out).toContain(`usage: npx sallyport ${name}`)
    expect((await ran(['list', '--help'])).code).toBe(0)
  })
})

describe('the process', () => {
  it('The process ends by itself, although the module keeps a database open, with the exit code', async () => {
    const { ids } = await filled(1)
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ['--import', 'tsx', MAIN, ...args], {
        encoding: 'utf8',
        env: { ...process.env, SALLYPORT_MODULE: MODULE },
      })
    const listed = run('list')
    expect([listed.status, listed.stdout.split('\t')[0]]).toEqual([0, ids[0]])
    expect(run('retry', 'dsp_x')).toMatchObject({ status: 3, stdout: 'dsp_x\tnot found\n' })
  })
})

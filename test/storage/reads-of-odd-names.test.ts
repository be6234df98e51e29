import { afterAll, describe, expect, it } from 'vitest'
import type { Sallyport } from '../../src/compose/create-sallyport.ts'
import { isSallyportError } from '../../src/errors.ts'
import type { AlertsApi } from '../../src/plugins/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { exampleHost } from '../openapi/host.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { databaseKinds } from './databases.ts'

const ODD: Readonly<Record<string, unknown>> = {
  'a NUL': 'a\0b',
  'the first half of a surrogate pair': 'a\ud83d',
  'the second half of one': '\ude00a',
  'more than 2,048 characters': 'x'.repeat(2_049),
  nothing: '',
  'a number': 7,
  null: null,
}

type Host = Sallyport & AlertsApi
type Read = (host: Host, value: never) => unknown

/** Every read with each argument that names stored data, and the name that its error must contain. */
const READS: readonly (readonly [call: string, name: string, read: Read])[] = [
  ['dispatches.get', 'dispatchId', (host, value) => host.dispatches.get(value)],
  ['dispatches.cancel', 'dispatchId', (host, value) => host.dispatches.cancel(value)],
  ['dispatches.retry', 'dispatchId', (host, value) => host.dispatches.retry(value)],
  ['dispatches.retry', 'channel', (host, value) => host.dispatches.retry('d1', { channel: value })],
  ['dispatches.list', 'sessionId', (host, value) => host.dispatches.list({ sessionId: value })],
  ['dispatches.list', 'eventType', (host, value) => host.dispatches.list({ eventType: value })],
  ['dispatches.list', 'recipient', (host, value) => host.dispatches.list({ recipient: value })],
  ['runs.get', 'runId', (host, value) => host.runs.get({ sessionId: 's1', runId: value })],
  ['runs.get', 'sessionId', (host, value) => host.runs.get({ sessionId: value, runId: 'r1' })],
  ...['sessionId', 'provider', 'model', 'userId', 'tag'].flatMap((name): (readonly [string, string, Read])[] => [
    ['runs.list', name, (host, value) => host.runs.list({ [name]: value })],
    ['runs.export', name, async (host, value) => host.runs.export({ [name]: value })],
  ]),
  ['runs.erase', 'sessionId', (host, value) => host.runs.erase({ sessionId: value })],
  ['runs.erase', 'userId', (host, value) => host.runs.erase({ userId: value })],
  ['sessions.get', 'sessionId', (host, value) => host.sessions.get(value)],
  ['sessions.tree', 'sessionId', (host, value) => host.sessions.tree(value)],
  ['sessions.timeline', 'sessionId', (host, value) => host.sessions.timeline(value)],
  ['budgets.check', 'sessionId', (host, value) => host.budgets.check({ sessionId: value })],
  ['budgets.check', 'userId', (host, value) => host.budgets.check({ userId: value })],
]

function testReads(open: () => Promise<Host>): void {
  it.each(READS)('%s refuses invalid values of %s before it calls the store', async (call, name, read) => {
    const host = await open()
    for (const [what, value] of Object.entries(ODD)) {
      const thrown: unknown = await Promise.resolve(value)
        .then((given) => read(host, given as never))
        .then(
          () => undefined,
          (error) => error,
        )
      expect(isSallyportError(thrown) && [thrown.code, thrown.message.includes(name)], `${call} ${what}`).toEqual([
        'option_invalid',
        true,
      ])
    }
  })

  it('Reads accept ids with unusual characters', async () => {
    const host = await open()
    for (const id of ['x'.repeat(2_048), "'; drop table x", '😀', '\u0001', '%', '\\']) {
      expect(await host.dispatches.get(id)).toBeUndefined()
      expect(await host.runs.get({ sessionId: id, runId: id })).toBeUndefined()
      expect((await host.dispatches.list({ recipient: id })).items).toEqual([])
      expect((await host.runs.list({ tag: id })).items).toEqual([])
    }
  })
}

describe('reads of odd names in memory', () => testReads(async () => exampleHost({ store: memoryStore() }).sallyport))

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`reads of odd names on ${kind.name}`, async () => {
    const database = kind.absent ? undefined : await kind.open()
    afterAll(() => database?.close())
    let host: Host | undefined
    testReads(async () => {
      if (!database) throw new TypeError('there is no database')
      if (host) return host
      const store = sqlStore({ db: database.connect(), dialect: database.dialect, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      host = exampleHost({ store }).sallyport
      return host
    })
  })

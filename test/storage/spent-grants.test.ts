import { afterAll, describe, expect, it } from 'vitest'
import { handleDispatch } from '../../src/core/dispatch/handle-dispatch.ts'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { randomIds } from '../../src/runtime/random-ids.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { GRANT, testDeps } from '../support/deps.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { databaseKinds } from './databases.ts'

const BODY = {
  eventType: 'order.shipped',
  recipient: 'jane@example.com',
  eventData: { orderId: 'A', total: 1 },
  channel: 'email',
}
const POSTS = 200
const MAX = 3

/** Sends all posts at once under one token that may dispatch three times, and counts the statuses. */
async function burst(
  store: DispatchStore & RunStore,
  jti: string,
  key?: (at: number) => string,
  tenant: string = 'default',
) {
  const auth = {
    verify: async () => ({ id: jti, tenant, sessionId: 's1', dispatch: { ...GRANT, maxDispatches: MAX } }),
  }
  const deps = { ...testDeps(undefined, { auth }), store, ids: randomIds(() => Date.now()) }
  const posts = Array.from({ length: POSTS }, (_, at) => {
    const headers = { authorization: 'Bearer t', ...(key && { 'idempotency-key': key(at) }) }
    return handleDispatch({ headers, body: BODY }, deps)
  })
  const counts: Record<number, number> = {}
  for (const { status } of await Promise.all(posts)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

interface Opened {
  readonly store: DispatchStore & RunStore
  /** The statements of its database so far. */
  asked(): readonly string[]
}

function testSpentGrants(open: () => Promise<Opened>): void {
  it('A grant accepts its remaining dispatches under concurrent posts, and refuses the others with 403', async () => {
    const { store, asked } = await open()
    const before = asked().length
    expect(await burst(store, 'a')).toEqual({ 202: MAX, 403: POSTS - MAX })
    expect(await burst(store, 'a')).toEqual({ 403: POSTS })
    // One statement per post in sequence would exceed the default time-out of a statement: the last posts would get 503.
    expect(asked().length - before).toBeLessThan(POSTS / 2)
    expect(await burst(store, 'b', (at) => `key-${at}`)).toEqual({ 202: MAX, 403: POSTS - MAX })
    expect(await burst(store, 'b', (at) => `again-${at}`)).toEqual({ 403: POSTS })
  })

  it('A spent grant of one tenant refuses nothing of the grant with the same id of another tenant', async () => {
    const { store } = await open()
    expect(await burst(store, 'e')).toEqual({ 202: MAX, 403: POSTS - MAX })
    expect(await burst(store, 'e', undefined, 'other')).toEqual({ 202: MAX, 403: POSTS - MAX })
  })

  it('A spent grant replays repeated keys under concurrent posts', async () => {
    const { store } = await open()
    expect(await burst(store, 'c', (at) => `key-c-${at % MAX}`)).toEqual({ 202: POSTS })
    expect(await burst(store, 'c', (at) => `key-c-${at % (MAX + 1)}`)).toEqual({ 202: 150, 403: 50 })
  })
}

describe('a spent grant in memory', () => testSpentGrants(async () => ({ store: memoryStore(), asked: () => [] })))

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`a spent grant on ${kind.name}`, async () => {
    const database = kind.absent ? undefined : await kind.open()
    afterAll(() => database?.close())
    let prefixes = 0
    async function open() {
      if (!database) throw new TypeError('there is no database')
      prefixes += 1
      const asked: string[] = []
      const db = database.connect({ log: ({ query }) => void asked.push(query.sql) })
      const store = sqlStore({ db, dialect: database.dialect, prefix: `spent${prefixes}_`, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      return { store, asked: () => asked }
    }
    testSpentGrants(open)

    // In SQLite each read ends before the next begins.
    it.skipIf(kind.name === 'sqlite')('The keys of a burst are read together', async () => {
      const { store, asked } = await open()
      await burst(store, 'd')
      const before = asked().length
      expect(await burst(store, 'd', (at) => `key-${at}`)).toEqual({ 403: POSTS })
      const reads = asked()
        .slice(before)
        .filter((text) => /^select .* from .*idempotency_keys/s.test(text))
      expect(reads.length).toBeGreaterThan(0)
      expect(reads.length).toBeLessThanOrEqual(POSTS / 10)
    })
  })

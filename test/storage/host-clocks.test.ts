import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { SallyportStore } from '../../src/ports/sallyport-store.ts'
import { randomIds } from '../../src/runtime/random-ids.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { APP, recordingLogger, testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { handled } from '../support/handled.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from './databases.ts'

type Store = SallyportStore

type Host = ReturnType<typeof hostOf>

const HOUR = 3_600_000
const PRINCIPAL = { id: 'app', tenant: 'default' }
const START = Date.UTC(2026, 10, 21, 8)
const events = defineEvents({ e: { channels: { a: {} } } })

/** A host whose clock is wrong by this much, with ids from that clock. */
function hostOf(store: Store, wrongByMs: number) {
  const clock = fakeClock(START + wrongByMs)
  return createSallyport({
    ...{ auth: testAuth, events, store, clock, ids: randomIds(clock.now), logger: recordingLogger() },
    channels: { a: recordingChannel() },
  })
}

/** The stores of two processes on the same data, and control of their clock. */
interface Opened {
  readonly stores: readonly [Store, Store]
  advance(ms: number): void
  close(): Promise<void>
}

function inMemory(): Opened {
  const clock = fakeClock(START)
  const store = memoryStore({ clock })
  return { stores: [store, store], advance: clock.advance, close: async () => {} }
}

async function inDatabase(open: () => Promise<TestDatabase>): Promise<Opened> {
  const clock = fakeClock(START)
  const database = await open()
  const [one, other] = [database.connect(), database.connect()].map((db) =>
    sqlStore({ db, dialect: database.dialect, clock, timeoutMs: UNHURRIED_MS }),
  )
  if (!one || !other) throw new Error('there are no stores')
  await one.migrate()
  return { stores: [one, other], advance: clock.advance, close: () => database.close() }
}

const kinds = await databaseKinds()
const places = [
  { name: 'memory', absent: undefined, open: async () => inMemory() },
  ...kinds.map(({ name, absent, open }) => ({ name, absent, open: () => inDatabase(open) })),
]

for (const { name, absent, open } of places)
  describe.skipIf(absent)(`two hosts whose clocks are two hours apart, over ${name}`, () => {
    let opened: Opened
    let hosts: readonly [Host, Host]
    beforeAll(async () => {
      opened = await open()
      hosts = [hostOf(opened.stores[0], HOUR), hostOf(opened.stores[1], -HOUR)]
    })
    afterAll(() => opened.close())

    it('Dispatches are dated and ordered by the clock of the store', async () => {
      const ids: string[] = []
      const at: string[] = []
      for (let turn = 0; turn < 6; turn++) {
        opened.advance(1_000)
        const { body } = await (hosts[turn % 2] ?? hosts[0]).dispatch({
          eventType: 'e',
          recipient: 'jane@example.com',
          sessionId: 's',
        })
        if (!('dispatchId' in body)) throw new Error(JSON.stringify(body))
        ids.push(body.dispatchId)
        at.push(body.createdAt)
      }
      expect(at).toEqual(ids.map((_, turn) => new Date(START + (turn + 1) * 1_000).toISOString()))
      expect(ids.toSorted()).not.toEqual(ids)
      for (const { dispatches } of hosts) {
        const { items } = await dispatches.list()
        expect(items.map(({ dispatchId }) => dispatchId)).toEqual(ids.toReversed())
        const since = await dispatches.list({ since: START + 3_000, until: START + 5_000 })
        expect(since.items.map(({ dispatchId }) => dispatchId)).toEqual([ids[3], ids[2]])
        const first = await dispatches.list({ limit: 4 })
        const { nextCursor: cursor } = first
        const rest = await dispatches.list({ limit: 4, cursor })
        expect([...first.items, ...rest.items].map(({ dispatchId }) => dispatchId)).toEqual(ids.toReversed())
      }
      expect(await hosts[0].dispatches.prune({ olderThan: HOUR / 2 })).toEqual({ pruned: 0 })
    })

    it('Runs are ordered by the clock of the store, and keep the instants that agents report', async () => {
      const startedAt = '2026-11-20T08:00:00.000Z'
      const runIds = ['z', 'm', 'a', 'b']
      for (const [turn, runId] of runIds.entries()) {
        opened.advance(1_000)
        const host = hosts[turn % 2] ?? hosts[0]
        const body = { sessionId: 'r', run: { runId, timings: { startedAt } } }
        expect(await handled(host.endpoints, 'session_run', PRINCIPAL, { headers: APP, body })).toMatchObject({
          status: 201,
        })
      }
      const begin = START + 6_000
      for (const { runs, sessions } of hosts) {
        const { items } = await runs.list({ sessionId: 'r' })
        expect(items.map(({ runId }) => runId)).toEqual(runIds)
        expect(items.map(({ createdAt }) => Date.parse(createdAt) - begin)).toEqual([1_000, 2_000, 3_000, 4_000])
        expect(items.map(({ timings }) => timings?.startedAt)).toEqual(runIds.map(() => startedAt))
        const some = await runs.list({ sessionId: 'r', since: begin + 2_000, until: begin + 4_000 })
        expect(some.items.map(({ runId }) => runId)).toEqual(['m', 'a'])
        expect((await sessions.get('r'))?.createdAt).toBe(new Date(begin + 1_000).toISOString())
      }
      expect(await hosts[0].runs.sweepStale({ olderThan: HOUR / 2 })).toEqual({ expired: 0 })
      expect(await hosts[1].runs.prune({ olderThan: HOUR / 2, status: 'running' })).toEqual({ pruned: 0 })
    })
  })

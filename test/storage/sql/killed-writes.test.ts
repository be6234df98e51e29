import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClaimedDelivery, DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { type SqlStore, sqlStore } from '../../../src/storage/sql/index.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { emptyTables } from '../store-each.ts'
import { acceptance, claim, claimOne, delivery, digested, HOUR, ids, keyed, lease } from '../storing.ts'
import { type Kill, killedHost } from './killed-host.ts'

const SENT = { to: 'sent', attempt: { outcome: 'sent' } } as const
const FAILED = { to: 'failed', reason: 'provider_rejected', attempt: { outcome: 'rejected', code: 'gone' } } as const
const LEASE_MS = 30_000
/** Windows of digests end after a second. */
const WINDOW_MS = 1_000
/** No phase has so many statements. */
const MOST_STATEMENTS = 60
const TABLES = ['dispatches', 'states', 'contents', 'jobs', 'listed', 'digests', 'members', 'idempotency_keys']

/** What a process was doing when it was killed. */
interface Phase {
  /** Done by another process before. */
  readonly before?: (store: DispatchStore, clock: FakeClock) => Promise<unknown>
  /** Calls of the killed process; each resolves only if it was answered. */
  readonly work: (store: DispatchStore, clock: FakeClock) => Promise<unknown>
  /** Its caller repeats the events that were not answered. */
  readonly repeat?: (store: DispatchStore) => Promise<unknown>
  /** Statuses of the deliveries by dispatch after the others have sent everything. */
  readonly ends: Readonly<Record<string, readonly string[]>>
}

const event = (id: string) => ({ ...keyed(id, id), expiresInMs: HOUR })
const many = (id: string) => acceptance(id, { deliveries: ['1', '2', '3'].map((name) => delivery(`${id}-${name}`)) })
const joining = (id: string) => acceptance(id, { deliveries: [digested(`${id}-a`)] }, keyOf(id))
const keyOf = (key: string) => ({ idempotency: { key, fingerprint: 'f', ttlMs: HOUR } })
const fallback = (id: string) =>
  acceptance(id, { route: 'first', deliveries: [delivery(`${id}-1`), delivery(`${id}-2`, { status: 'held' })] })

async function claimAndSettle(store: DispatchStore, end: typeof SENT | typeof FAILED): Promise<void> {
  const { deliveries } = await claim(store)
  await Promise.all(deliveries.map((one) => store.settle({ ...lease(one), ...end })))
}

/** Sends digests too: first their content is stored. */
async function sendAll(store: DispatchStore): Promise<readonly ClaimedDelivery[]> {
  const { deliveries } = await claim(store)
  for (const one of deliveries) {
    const rendered = { to: 'queued', delayMs: 0, content: { text: 'rendered' } } as const
    await store.settle({ ...lease(one), ...(one.content ? SENT : rendered) })
  }
  return deliveries
}

const PHASES: Readonly<Record<string, Phase>> = {
  accept: {
    work: (store) => store.accept(event('d')),
    repeat: (store) => store.accept(event('d')),
    ends: { d: ['sent'] },
  },
  'accept several events at once': {
    work: (store) => Promise.all([store.accept(event('d')), store.accept(event('e')), store.accept(event('f'))]),
    repeat: async (store) => {
      for (const id of ['d', 'e', 'f']) await store.accept(event(id))
    },
    ends: { d: ['sent'], e: ['sent'], f: ['sent'] },
  },
  'claim and settle': {
    before: (store) => store.accept(many('d')),
    work: (store) => claimAndSettle(store, SENT),
    ends: { d: ['sent', 'sent', 'sent'] },
  },
  'settle for a retry': {
    before: (store) => store.accept(many('d')),
    work: async (store) => {
      const again = { to: 'queued', delayMs: 1_000, attempt: { outcome: 'retry', code: 'busy' } } as const
      await store.settle({ ...lease(await claimOne(store)), ...again })
    },
    ends: { d: ['sent', 'sent', 'sent'] },
  },
  'promote a fallback': {
    before: (store) => store.accept(fallback('d')),
    work: (store) => claimAndSettle(store, FAILED),
    // The first is sent if its settlement was lost.
    ends: { d: ['failed or sent', 'sent or skipped'] },
  },
  'join a digest': {
    before: (store) => store.accept(joining('d')),
    work: (store) => store.accept(joining('e')),
    repeat: (store) => store.accept(joining('e')),
    ends: { d: ['sent'], e: ['sent'] },
  },
  'end a digest': {
    async before(store, clock) {
      for (const id of ['d', 'e']) await store.accept(joining(id))
      clock.advance(WINDOW_MS)
    },
    async work(store) {
      await sendAll(store)
      await sendAll(store)
    },
    ends: { d: ['sent'], e: ['sent'] },
  },
  renew: {
    before: (store) => store.accept(event('d')),
    async work(store, clock) {
      const claimed = await claimOne(store, 'a', LEASE_MS)
      clock.advance(LEASE_MS - 1)
      if (await store.renew(lease(claimed), LEASE_MS)) await store.settle({ ...lease(claimed), ...SENT })
    },
    ends: { d: ['sent'] },
  },
  cancel: {
    before: (store) => store.accept(event('d')),
    async work(store) {
      await store.cancel('default', 'd')
    },
    ends: { d: ['sent or cancelled'] },
  },
}

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`a process on ${kind.name} that is killed between two writes`, () => {
    let database: TestDatabase
    let db: ReturnType<TestDatabase['connect']>
    let clock = fakeClock()
    beforeAll(async () => {
      database = await kind.open()
      db = database.connect()
    })
    afterAll(() => database.close())
    beforeEach(() => {
      clock = fakeClock()
    })

    const open = (over: Parameters<typeof sqlStore>[0]['db'] = db): SqlStore =>
      sqlStore({ db: over, dialect: kind.name, timeoutMs: UNHURRIED_MS, clock: { now: () => clock.now() } })

    /** Returns whether the process was killed before it had done everything. */
    async function killIn({ before, work, repeat, ends }: Phase, kill: Kill): Promise<boolean> {
      await emptyTables(database, db)
      const other = open()
      await before?.(other, clock)
      const killed = killedHost(db, kill)
      await work(open(killed.db), clock).catch((cause: unknown) => {
        if (!killed.isDead) throw cause
      })
      await repeat?.(other)
      clock.advance(WINDOW_MS)
      await sendRest(other)
      for (const [id, statuses] of Object.entries(ends)) await expectEnded(other, id, statuses)
      await expectNothingLeft(other)
      return killed.isDead
    }

    /** Other processes send what is due, and what the killed process had leased once its leases have ended. */
    async function sendRest(store: SqlStore): Promise<void> {
      for (let rounds = 0; rounds < 4; rounds++) {
        while ((await sendAll(store)).length > 0);
        clock.advance(LEASE_MS)
      }
    }

    async function expectEnded(store: DispatchStore, id: string, statuses: readonly string[]): Promise<void> {
      const found = await store.findDispatch('default', id)
      expect(found?.deliveries.map(({ status }) => status)).toEqual(
        statuses.map((status) => expect.stringMatching(new RegExp(`^(${status.replaceAll(' or ', '|')})$`))),
      )
      const sent = found?.deliveries.filter(({ status }) => status === 'sent') ?? []
      for (const { attemptLog } of sent) {
        expect(attemptLog.filter(({ outcome }) => outcome === 'sent')).toHaveLength(1)
        expect(attemptLog.at(-1)).toMatchObject({ outcome: 'sent' })
      }
      if (found?.route === 'first') expect(sent).toHaveLength(1)
    }

    /** No row is left of anything once it is removed: nothing was stored in part. */
    async function expectNothingLeft(store: SqlStore): Promise<void> {
      expect(ids((await claim(store)).deliveries)).toEqual([])
      clock.advance(2 * HOUR)
      await store.removeDispatches({ acceptedForMs: 0, limit: 100 })
      await store.forgetExpired?.(100)
      for (const table of TABLES) {
        const { rows } = await db.executeQuery(CompiledQuery.raw(`select * from sallyport_${table}`))
        expect([table, rows]).toEqual([table, []])
      }
    }

    for (const [name, phase] of Object.entries(PHASES))
      it(`Nothing is lost or sent after it was sent: ${name}`, async () => {
        for (const when of ['before', 'after'] as const) {
          let at = 1
          while (await killIn(phase, { at, when })) if (++at > MOST_STATEMENTS) throw new Error('the phase has no end')
          expect(at).toBeGreaterThan(1)
        }
      })
  })

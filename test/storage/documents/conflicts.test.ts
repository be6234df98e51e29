import { describe, expect, it } from 'vitest'
import type { Dispatch } from '../../../src/model/dispatch.ts'
import { noSpend, noTotals } from '../../../src/model/totals.ts'
import type { Acceptance, NewDelivery } from '../../../src/ports/dispatch-store.ts'
import { type Documents, documentStore } from '../../../src/storage/documents/index.ts'
import { mapDocuments } from './map-documents.ts'

type Store = ReturnType<typeof documentStore>

const NOW = 1_000_000
const DIGEST: Partial<NewDelivery> = {
  delayMs: 60_000,
  digest: { key: 'k', max: 9, recipient: { id: 'r' }, eventData: {} },
}

function acceptance(dispatchId: string, more: Partial<NewDelivery> = {}, key?: string): Acceptance {
  const head = { dispatchId, tenant: 't', by: 'app_1', eventType: 'e', recipient: 'r', route: 'all' } as const
  const delivery = { deliveryId: `${dispatchId}-c`, channel: 'c', status: 'queued', address: 'a', ...more } as const
  return {
    dispatch: { ...head, deliveries: [{ ...delivery, ...(!more.digest && { content: { text: 'x' } }) }] },
    expiresInMs: 600_000,
    answer: () => ({ ...head, createdAt: '', status: 'queued', duplicate: false, deliveries: [], warnings: [] }),
    ...(key !== undefined && { idempotency: { key, fingerprint: 'f', ttlMs: 600_000 } }),
  }
}

/** Creates a run and adds it to its session. */
function merge(store: Store, runId: string): Promise<unknown> {
  return store.mergeRun({ tenant: 't', sessionId: 's', runId }, () => ({
    result: undefined,
    state: { sessionId: 's', runId, latest: {}, tags: [] } as never,
    totalsChanges: { session: { ...noTotals(), spend: { ...noSpend(), runs: 1 } }, descendants: [], users: [] },
  }))
}

async function stateOf(store: Store): Promise<string | undefined> {
  return (await store.findDispatch('t', '1'))?.deliveries[0]?.status
}

describe('document store with concurrent writers', () => {
  /** Runs another call before the first answer of the database, then, in a new trial, before the second, and so on. */
  async function atEveryAnswer(
    setUp: (store: Store, documents: Documents) => Promise<unknown>,
    work: (store: Store) => Promise<unknown>,
    meanwhile: (other: Store) => Promise<unknown>,
    check: (store: Store, worked: unknown, other: unknown, at: string) => Promise<void> | void,
  ): Promise<void> {
    for (let at = 0; ; at++) {
      let answers = 0
      let came: unknown
      const documents = mapDocuments({ now: () => NOW })
      const other = documentStore(documents)
      const interrupted = async (): Promise<void> => {
        if (answers++ === at) came = { was: await meanwhile(other) }
      }
      const store = documentStore({
        now: documents.now,
        get: (key) => interrupted().then(() => documents.get(key)),
        list: (prefix, range) => interrupted().then(() => documents.list(prefix, range)),
        commit: (changes) => interrupted().then(() => documents.commit(changes)),
      })
      await setUp(other, documents)
      const worked = await work(store)
      if (came === undefined) return expect(at).toBeGreaterThan(0)
      await check(other, worked, (came as { was: unknown }).was, `answer ${at}`)
    }
  }

  const claim = (store: Store) => store.claim({ limits: { c: 9 }, leaseMs: 60_000, busy: [] })
  const ids = (claims: unknown) => (claims as Awaited<ReturnType<typeof claim>>).deliveries.map((one) => one.deliveryId)

  it('A delivery is claimed once when another process writes between two requests', () =>
    atEveryAnswer(
      async (store) => {
        for (const id of ['1', '2']) await store.accept(acceptance(id))
      },
      claim,
      (other) => other.claim({ limits: { c: 1 }, leaseMs: 60_000, busy: [] }),
      (_, one, another, at) => expect([...ids(one), ...ids(another)].sort(), at).toEqual(['1-c', '2-c']),
    ))

  it('A key is accepted once when another process writes between two requests', () =>
    atEveryAnswer(
      async () => {},
      (store) => store.accept(acceptance('1', {}, 'k')),
      (other) => other.accept(acceptance('2', {}, 'k')),
      async (store, _one, _another, at) =>
        expect((await store.listDispatches({ tenant: 't', limit: 9 })).items.length, at).toBe(1),
    ))

  it('A digest is one delivery when another process writes between two requests', () =>
    atEveryAnswer(
      async () => {},
      (store) => store.accept(acceptance('1', DIGEST)),
      (other) => other.accept(acceptance('2', DIGEST)),
      async (store, _one, _another, at) => {
        const { items } = await store.listDispatches({ tenant: 't', limit: 9 })
        expect(
          items.map(({ deliveries }) => deliveries[0]?.eventCount),
          at,
        ).toEqual([2, 2])
      },
    ))

  it('A cancelled delivery is not sent when another process writes between two requests', () =>
    atEveryAnswer(
      (store) => store.accept(acceptance('1')),
      claim,
      (other) => other.cancel('t', '1'),
      async (store, claims, _, at) =>
        expect(ids(claims).length + Number((await stateOf(store)) === 'cancelled'), at).toBe(1),
    ))

  it('A dispatch is read at one instant when another process writes between two requests', () => {
    const held: NewDelivery = { deliveryId: 'h', channel: 'h', status: 'held', address: 'a', content: { text: 'x' } }
    const given = acceptance('1')
    const dispatch = { ...given.dispatch, route: 'first', deliveries: [...given.dispatch.deliveries, held] } as const
    return atEveryAnswer(
      (store) => store.accept({ ...given, dispatch }),
      (store) => store.findDispatch('t', '1'),
      async (other) => {
        const [claimed] = (await claim(other)).deliveries
        if (claimed) await other.settle({ ...claimed, to: 'failed', reason: 'provider_rejected' })
      },
      (_, read, _other, at) => {
        const states = (read as Dispatch).deliveries.map(({ status }) => status).join()
        expect(['queued,held', 'failed,queued'], at).toContain(states)
      },
    )
  })

  it('An erased session has the totals of its remaining runs when another process writes between two requests', () =>
    atEveryAnswer(
      (store) => merge(store, 'r1'),
      (store) => store.erase('t', { sessionId: 's' }),
      (other) => merge(other, 'r2'),
      async (store, _one, _another, at) => {
        const { items } = await store.listRuns({ tenant: 't', limit: 9 })
        expect((await store.findSession('t', 's'))?.totals.spend.runs ?? 0, at).toBe(items.length)
      },
    ))

  it('Both of two merges are in the totals when another process writes between two requests', () =>
    atEveryAnswer(
      async () => {},
      (store) => merge(store, 'r1'),
      (other) => merge(other, 'r2'),
      async (store, _one, _another, at) => expect((await store.findSession('t', 's'))?.totals.spend.runs, at).toBe(2),
    ))
})

describe('document store', () => {
  const counting = (calls: string[]): Documents => {
    const documents = mapDocuments({ now: () => NOW })
    const note = (call: string): number => calls.push(call)
    return {
      now: documents.now,
      get(key) {
        note('get')
        return documents.get(key)
      },
      list(prefix, range) {
        note(`list ${range.limit}`)
        return documents.list(prefix, range)
      },
      commit: (changes) => {
        note(changes.some(({ before, after }) => before !== after) ? 'write' : 'compare')
        return documents.commit(changes)
      },
    }
  }

  it('A read of one document commits nothing', async () => {
    const calls: string[] = []
    const store = documentStore(counting(calls))
    await store.accept(acceptance('1', {}, 'k'))
    calls.length = 0
    await store.recall('t', 'k')
    expect(calls).toEqual(['get'])
    await store.findDispatch('t', '1')
    await store.listDispatches({ tenant: 't', limit: 9 })
    expect(calls).not.toContain('write')
  })

  it('claim reads only the deliveries that it returns', async () => {
    const calls: string[] = []
    const store = documentStore(counting(calls))
    for (let at = 0; at < 300; at++) await store.accept(acceptance(`${at}`))
    await store.claim({ limits: { c: 0 }, leaseMs: 60_000, busy: [] })
    calls.length = 0
    expect((await store.claim({ limits: { c: 2 }, leaseMs: 60_000, busy: [] })).deliveries).toHaveLength(2)
    const times = (wanted: string): number => calls.filter((call) => call.startsWith(wanted)).length
    // Three jobs that are due; then of each of two jobs itself, its dispatch, its state and its content.
    expect({ gets: times('get'), comparisons: times('compare'), writes: times('write') }).toEqual({
      gets: 3 + 2 * 4,
      comparisons: 1,
      writes: 1,
    })
    // Besides those of the removal of expired keys and counters, which goes on in the background.
    const lists = calls.flatMap((call) => (/^list (?!500)/.test(call) ? Number(call.slice('list '.length)) : []))
    expect(lists.length).toBeLessThanOrEqual(4)
    expect(Math.max(...lists)).toBeLessThan(25)
  })

  it('claim leases 25 deliveries at once, and nextDueInMs is 0', async () => {
    const store = documentStore(mapDocuments({ now: () => NOW }))
    for (let at = 0; at < 60; at++) await store.accept(acceptance(`${at}`))
    const claimed: number[] = []
    for (let times = 0; times < 3; times++) {
      const { deliveries, nextDueInMs } = await store.claim({ limits: { c: 99 }, leaseMs: 60_000, busy: [] })
      claimed.push(deliveries.length)
      expect(nextDueInMs).toBe(times < 2 ? 0 : 60_000)
    }
    expect(claimed).toEqual([25, 25, 10])
  })

  it('A call that meets too many conflicts throws and changes nothing', async () => {
    const documents = mapDocuments({ now: () => NOW })
    const store = documentStore({ ...documents, commit: async () => false })
    await expect(store.accept(acceptance('1'))).rejects.toThrow('conflict 200 times')
    expect(await documents.list('', { limit: 9 })).toEqual([])
  })

  it('forgetExpired removes the documents of expired keys and counters', async () => {
    let now = NOW
    const texts = new Map<string, string>()
    const store = documentStore(mapDocuments({ now: () => now }, texts))
    const limits = [{ key: 'l', max: 9, windowMs: 600_000 }]
    for (const id of ['1', '2', '3']) await store.accept(acceptance(id, { limits }, `k${id}`))
    now += 300_000
    await store.accept(acceptance('4', { limits }))
    expect(await store.forgetExpired?.(9)).toBe(0)
    now = NOW + 600_000
    expect(await store.forgetExpired?.(2)).toBe(2)
    expect(await store.forgetExpired?.(9)).toBe(1)
    const left = () => [...texts.keys()].filter((key) => /^(?:idempotency_keys|counters)[./]/.test(key))
    expect(left()).toHaveLength(2)
    now = NOW + 900_000
    expect(await store.forgetExpired?.(9)).toBe(1)
    expect(left()).toEqual([])
  })

  it('Removing everything leaves no document', async () => {
    let now = NOW
    const texts = new Map<string, string>()
    const store = documentStore(mapDocuments({ now: () => now }, texts))
    await store.accept(acceptance('1', DIGEST))
    await store.accept(acceptance('2', DIGEST))
    await store.cancel('t', '1')
    await store.cancel('t', '2')
    await merge(store, 'r1')
    await merge(store, 'r2')
    now += 1_000
    expect(await store.removeDispatches({ acceptedForMs: 1, limit: 9 })).toBe(2)
    expect(await store.erase('t', { sessionId: 's' })).toBe(2)
    now += 60_000
    await store.forgetExpired?.(9)
    expect([...texts.keys()]).toEqual([])
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { tryStore } from '../../docs/examples/writing-a-store/contract.ts'
import { type Documents, mapDocuments } from '../../docs/examples/writing-a-store/documents.ts'
import { documentStore } from '../../docs/examples/writing-a-store/store.ts'
import { noSpend, noTally } from '../../src/model/tally.ts'
import type { Acceptance, NewDelivery } from '../../src/ports/dispatch-store.ts'

const docs = new URL('../../docs/', import.meta.url)
const page = readFileSync(new URL('writing-a-store.md', docs), 'utf8')
const folder = new URL('examples/writing-a-store/', docs)
const files = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'))

type Store = ReturnType<typeof documentStore>

const NOW = 1_000_000
const DIGEST: Partial<NewDelivery> = {
  delayMs: 60_000,
  digest: { key: 'k', max: 9, recipient: { id: 'r' }, eventData: {} },
}

function acceptance(dispatchId: string, more: Partial<NewDelivery> = {}, key?: string): Acceptance {
  const head = { dispatchId, tenant: 't', eventType: 'e', recipient: 'r', route: 'all' } as const
  const delivery = { deliveryId: `${dispatchId}-c`, channel: 'c', status: 'queued', address: 'a', ...more } as const
  return {
    dispatch: { ...head, deliveries: [{ ...delivery, ...(!more.digest && { content: { text: 'x' } }) }] },
    expiresInMs: 600_000,
    answer: () => ({ ...head, createdAt: '', status: 'queued', duplicate: false, deliveries: [], warnings: [] }),
    ...(key !== undefined && { idempotency: { key, fingerprint: 'f', ttlMs: 600_000 } }),
  }
}

/** Makes a run, and adds it to its session. */
function merge(store: Store, runId: string): Promise<unknown> {
  return store.mergeRun({ tenant: 't', sessionId: 's', runId }, () => ({
    result: undefined,
    state: { sessionId: 's', runId, latest: {}, tags: [] } as never,
    tallies: { session: { ...noTally(), spend: { ...noSpend(), runs: 1 } }, below: [], users: [] },
  }))
}

async function stateOf(store: Store): Promise<string | undefined> {
  return (await store.findDispatch('t', '1'))?.deliveries[0]?.status
}

describe('the store of the guide', () => tryStore(test))

describe('whenever another process comes between', () => {
  /** Does it once, before the database gives an answer, at every place where it does; then the same again with the next. */
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
        list: (prefix) => interrupted().then(() => documents.list(prefix)),
        commit: (read, written) => interrupted().then(() => documents.commit(read, written)),
      })
      await setUp(other, documents)
      const worked = await work(store)
      if (came === undefined) return expect(at).toBeGreaterThan(1)
      await check(other, worked, (came as { was: unknown }).was, `answer ${at}`)
    }
  }

  const claim = (store: Store) => store.claim({ limits: { c: 9 }, leaseMs: 60_000, busy: [] })
  const ids = (claims: unknown) => (claims as Awaited<ReturnType<typeof claim>>).deliveries.map((one) => one.deliveryId)

  it('a delivery is handed out once', () =>
    atEveryAnswer(
      async (store) => {
        for (const id of ['1', '2']) await store.accept(acceptance(id))
      },
      claim,
      (other) => other.claim({ limits: { c: 1 }, leaseMs: 60_000, busy: [] }),
      (_, one, another, at) => expect([...ids(one), ...ids(another)].sort(), at).toEqual(['1-c', '2-c']),
    ))

  it('a key is accepted once', () =>
    atEveryAnswer(
      async () => {},
      (store) => store.accept(acceptance('1', {}, 'k')),
      (other) => other.accept(acceptance('2', {}, 'k')),
      async (store, _one, _another, at) =>
        expect((await store.listDispatches({ tenant: 't', limit: 9 })).items.length, at).toBe(1),
    ))

  it('events of one digest are one delivery', () =>
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

  it('what is cancelled is not sent as well', () =>
    atEveryAnswer(
      (store) => store.accept(acceptance('1')),
      claim,
      (other) => other.cancel('t', '1'),
      async (store, claims, _, at) =>
        expect(ids(claims).length + Number((await stateOf(store)) === 'cancelled'), at).toBe(1),
    ))

  it('a session that is erased keeps the sums of just the runs that it has', () =>
    atEveryAnswer(
      (store) => merge(store, 'r1'),
      (store) => store.erase('t', { sessionId: 's' }),
      (other) => merge(other, 'r2'),
      async (store, _one, _another, at) => {
        const { items } = await store.listRuns({ tenant: 't', limit: 9 })
        expect((await store.findSession('t', 's'))?.tally.spend.runs ?? 0, at).toBe(items.length)
      },
    ))

  it('both of two merges are in the sum', () =>
    atEveryAnswer(
      async () => {},
      (store) => merge(store, 'r1'),
      (other) => merge(other, 'r2'),
      async (store, _one, _another, at) => expect((await store.findSession('t', 's'))?.tally.spend.runs, at).toBe(2),
    ))
})

describe('a reader of the store', () => {
  it('writes nothing', async () => {
    const written: number[] = []
    const documents = mapDocuments({ now: () => NOW })
    const store = documentStore({
      ...documents,
      commit: (read, changes) => {
        written.push(changes.size)
        return documents.commit(read, changes)
      },
    })
    await store.accept(acceptance('1'))
    await store.findDispatch('t', '1')
    await store.listDispatches({ tenant: 't', limit: 9 })
    expect(written.map((changes) => changes > 0)).toEqual([true, false, false])
  })
})

describe('the guide to writing a store', () => {
  it('quotes the code as it is', () => {
    const quoted = [...page.matchAll(/^```typescript\n(.*?)^```$/gms)].map(([, code = '']) => code)
    expect(quoted.length).toBeGreaterThan(8)
    expect(quoted.filter((code) => !files.some((file) => file.includes(code)))).toEqual([])
  })

  it('names cases that the kit has', () => {
    const known = new Set<string>()
    tryStore((name) => known.add(name))
    const named = [...page.matchAll(/^- \*(.+?)\*$/gm)].map(([, name = '']) => name)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  it('needs nothing but public entries', () => {
    const imported = files.flatMap((file) => [...file.matchAll(/ from '([^']+)'/g)].map(([, from = '']) => from))
    expect(imported.filter((from) => !/^(?:sallyport(?:$|\/)|node:|\.\/)/.test(from))).toEqual([])
  })
})

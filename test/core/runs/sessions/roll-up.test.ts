import { describe, expect, it } from 'vitest'
import { decideMerge, type Recording } from '../../../../src/core/runs/merge-update.ts'
import { viewSession } from '../../../../src/core/runs/sessions/session-view.ts'
import type { RunUpdate } from '../../../../src/model/run.ts'
import { noSpend, noTotals, type Totals } from '../../../../src/model/totals.ts'
import type {
  MergeDecision,
  MergeSnapshot,
  RunStore,
  StoredSession,
  TotalsChanges,
} from '../../../../src/ports/run-store.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { KNOWN_COUNTS } from '../../../../src/usage/counts.ts'
import { record } from '../recorded.ts'
import { NOW, stillClock } from '../recorder.ts'
import { storedAs } from '../stored.ts'
import { flatSums } from './roll-up-oracle.ts'

const run = (runId: string, more: Partial<RunUpdate> = {}): RunUpdate => ({ sessionId: 's1', runId, ...more })

const namesOf = (length: number, of: number) => Array.from({ length }, (_, index) => `n${of}_${index}`)
const TREE = { countsScope: 'tree', counts: { n0_0: 1 } } as const

function decide(update: RunUpdate, snapshot: Partial<MergeSnapshot> = {}, now = NOW): MergeDecision<Recording> {
  return decideMerge({ ancestors: [], ...snapshot }, update, { tenant: 't', now })
}

/** The stored run after some updates. */
function stored(...updates: readonly RunUpdate[]): NonNullable<MergeSnapshot['run']> {
  let kept: MergeSnapshot['run']
  for (const update of updates) {
    const { state, derived } = decide(update, { run: kept })
    if (state && derived) kept = storedAs(state, { derived })
  }
  if (!kept) throw new Error('no updates')
  return kept
}

async function sessionOf(store: RunStore): Promise<StoredSession> {
  const session = await store.findSession('t', 's1')
  if (!session) throw new Error('no session')
  return session
}

describe('changes of a session by a post', () => {
  it('A run of one post adds its own totals', () => {
    const { totalsChanges } = decide(
      run('r1', {
        status: 'completed',
        provider: 'openai',
        model: 'gpt',
        userId: 'ann',
        counts: { inputTokens: 10, outputTokens: 2, totalTokens: 99, steps: 3 },
        cost: { amount: '0.25', currency: 'EUR', source: 'client' },
        timings: { startedAt: NOW - 5000, firstTokenAt: NOW - 4990, endedAt: NOW - 4000, activeMs: 400, toolMs: 7 },
      }),
    )
    const spend = { runs: 1, tokens: 12, cost: { EUR: '0.25' }, unpricedRuns: 0, unpricedTokens: 0 }
    const counts = { inputTokens: 10, outputTokens: 2, totalTokens: 99, steps: 3 }
    expect(totalsChanges).toEqual({
      session: {
        spend,
        byStatus: { completed: 1 },
        counts,
        models: { openai: { gpt: { runs: 1, counts, cost: { EUR: '0.25' } } } },
        time: { durationMs: 1000, activeMs: 400, waitingMs: 600, toolMs: 7 },
        durations: { '992ms': 1 },
        firstTokens: { '10ms': 1 },
        users: {},
      },
      descendants: [],
      users: [{ userId: 'ann', add: spend }],
    })
  })

  it('Tokens without a cost are unpriced, by the total if nothing else is known', () => {
    const spend = (counts: RunUpdate['counts']) =>
      decide(run('r1', { counts: counts ?? {} })).totalsChanges?.session.spend
    expect(spend({ totalTokens: 7 })).toMatchObject({ tokens: 7, unpricedRuns: 1, unpricedTokens: 7 })
    expect(spend({ outputTokens: 3, totalTokens: 7 })).toMatchObject({ tokens: 3, unpricedRuns: 1, unpricedTokens: 3 })
    expect(spend({ inputTokens: 0, totalTokens: 7 })).toMatchObject({ tokens: 0, unpricedRuns: 0, unpricedTokens: 0 })
    expect(spend({ steps: 3 })).toMatchObject({ tokens: 0, unpricedRuns: 0, unpricedTokens: 0 })
  })

  it('Changes are capped to the cardinality limits', async () => {
    const store = memoryStore({ clock: stillClock() })
    await record(
      store,
      Array.from({ length: 202 }, (_, index) => run(`r${index}`, { provider: `p${index % 7}`, model: `m${index}` })),
    )
    const { models } = (await sessionOf(store)).totals
    expect(Object.values(models).flatMap((of) => Object.keys(of))).toHaveLength(201)
    expect(models['']).toEqual({ '(other)': { runs: 2, counts: {}, cost: {} } })
  })

  it('A post that changes no total gives no changes', () => {
    const before = stored(run('r1', { status: 'running', counts: { steps: 1 } }))
    const { state, totalsChanges } = decide(run('r1', { tags: ['new'] }), { run: before })
    expect(state?.application?.tags).toEqual(['new'])
    expect(totalsChanges).toBeUndefined()
  })

  it('Changes of a session hold only changed totals', () => {
    const before = stored(run('r1', { status: 'running', model: 'm', counts: { steps: 1, messages: 2 } }))
    const { totalsChanges } = decide(run('r1', { status: 'failed', counts: { steps: 4 } }), { run: before })
    expect(totalsChanges?.session).toEqual({
      ...noTotals(),
      byStatus: { running: -1, failed: 1 },
      counts: { steps: 3 },
      models: { '': { m: { runs: 0, counts: { steps: 3 }, cost: {} } } },
    })
  })

  it('A negative time does not count', () => {
    const timings = { startedAt: NOW, firstTokenAt: NOW - 1, durationMs: 10, activeMs: 11 }
    const { totalsChanges } = decide(run('r1', { status: 'completed', timings }))
    expect(totalsChanges?.session.time).toEqual({ durationMs: 10, activeMs: 11 })
    expect(totalsChanges?.session.firstTokens).toEqual({})
  })

  it('rollUp does not change stored totals', () => {
    const parent = stored(run('p', { countsScope: 'tree', counts: { steps: 1 }, userId: 'ann' }))
    const descendants = decide(run('c', { counts: { steps: 2, messages: 1 } })).totalsChanges?.session
    const session = { tenant: 't', sessionId: 's1', createdAt: 0, updatedAt: 0, totals: noTotals(), failures: [] }
    const snapshot = { session, run: parent, descendants, ancestors: [] }
    const seen = JSON.stringify(snapshot)
    const update = run('p', { counts: { messages: 5 }, status: 'failed' })
    expect(decide(update, snapshot)).toEqual(decide(update, snapshot))
    expect(JSON.stringify(snapshot)).toBe(seen)
  })
})

describe('totals of descendants', () => {
  it('Descendants of a run with countsScope tree count once', async () => {
    const store = memoryStore({ clock: stillClock() })
    await record(store, [
      run('c', { parentRunId: 'p', counts: { inputTokens: 5, steps: 1 } }),
      run('p', { counts: { inputTokens: 8 }, cost: { amount: '1', currency: 'EUR', source: 'client' } }),
    ])
    expect((await sessionOf(store)).totals).toMatchObject({
      spend: { runs: 2, tokens: 13, cost: { EUR: '1' }, unpricedRuns: 1, unpricedTokens: 5 },
      counts: { inputTokens: 13, steps: 1 },
    })
    await record(store, [run('p', { countsScope: 'tree' })])
    expect((await sessionOf(store)).totals).toMatchObject({
      spend: { runs: 2, tokens: 8, cost: { EUR: '1' }, unpricedRuns: 0, unpricedTokens: 0 },
      counts: { inputTokens: 8, steps: 1 },
    })
  })

  it('Spend of descendants belongs to the user of the run, or else to their own', async () => {
    const store = memoryStore({ clock: stillClock() })
    const tokens = async (user: string) => (await store.findSpend('t', user, 0)).tokens
    await record(store, [
      run('p'),
      run('c', { parentRunId: 'p', userId: 'bob', counts: { inputTokens: 5 } }),
      run('c2', { parentRunId: 'p', counts: { inputTokens: 2 } }),
    ])
    expect([await tokens('ann'), await tokens('bob')]).toEqual([0, 5])
    await record(store, [run('p', { userId: 'ann' })])
    expect([await tokens('ann'), await tokens('bob')]).toEqual([7, 0])
  })

  it('A model over the cap is subtracted where it was added', async () => {
    const store = memoryStore({ clock: stillClock() })
    const many = Array.from({ length: 200 }, (_, index) => run(`r${index}`, { model: `m${index}` }))
    await record(store, [run('p', { model: 'm0' }), ...many])
    await record(store, [run('c', { parentRunId: 'p', model: 'new', counts: { steps: 4 } })])
    const others = async () => (await sessionOf(store)).totals.models['']?.['(other)']
    expect(await others()).toEqual({ runs: 1, counts: { steps: 4 }, cost: {} })
    await record(store, [run('p', { countsScope: 'tree', counts: { steps: 9 } })])
    expect(await others()).toEqual({ runs: 1, counts: { steps: 0 }, cost: {} })
  })

  it('Models of descendants have no cost if the run states the cost of a model of its tree', async () => {
    const store = memoryStore({ clock: stillClock() })
    const usage = (model: string, amount: string, currency: string) => ({
      provider: 'p',
      model,
      counts: {},
      cost: { amount, currency, source: 'client' as const },
    })
    await record(store, [
      run('p', { countsScope: 'tree', usageByModel: [usage('a', '1', 'EUR'), usage('a', '2', 'USD')] }),
      run('c', { parentRunId: 'p', usageByModel: [usage('b', '4', 'EUR')] }),
    ])
    const { totals } = await sessionOf(store)
    expect(totals.models.p?.a?.cost).toEqual({ EUR: '1', USD: '2' })
    expect(totals.models.p?.b?.cost ?? {}).toEqual({})
  })

  it('Totals of descendants are capped', async () => {
    const store = memoryStore({ clock: stillClock() })
    const counts = (from: number, length: number) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`n${from + index}`, 1]))
    const children = [0, 100, 200].map((from) => run(`c${from}`, { parentRunId: 'p', counts: counts(from, 100) }))
    await record(store, [run('p'), ...children])
    const { totals } = await sessionOf(store)
    expect(totals.counts).toEqual(counts(0, 64))
  })

  it('Spend of users over the cap is counted for no user', async () => {
    const store = memoryStore({ clock: stillClock() })
    const tokens = async (user: string) => (await store.findSpend('t', user, 0)).tokens
    const children = Array.from({ length: 257 }, (_, index) =>
      run(`c${index}`, { parentRunId: 'p', userId: `u${index}`, counts: { inputTokens: 1 } }),
    )
    await record(store, [run('p'), ...children])
    expect([await tokens('u255'), await tokens('u256')]).toEqual([1, 0])
    await record(store, [run('p', { userId: 'ann' })])
    expect([await tokens('ann'), await tokens('u255'), await tokens('u256')]).toEqual([257, 0, 0])
  })

  it('Priced descendants of an unpriced run with countsScope tree keep their cost', async () => {
    const store = memoryStore({ clock: stillClock() })
    const cost = { amount: '1', currency: 'EUR', source: 'client' as const }
    const unpriced = async () => viewSession(await sessionOf(store)).unpriced
    await record(store, [
      run('p', { countsScope: 'tree', counts: { inputTokens: 8 } }),
      run('priced', { parentRunId: 'p', counts: { inputTokens: 5 }, cost }),
      run('unpriced', { parentRunId: 'p', counts: { inputTokens: 2 } }),
    ])
    expect(await unpriced()).toEqual({ runs: 2, tokens: 3 })
    await record(store, [run('priced', { counts: { inputTokens: 9 } })])
    expect(await unpriced()).toEqual({ runs: 2, tokens: 0 })
    await record(store, [run('p', { counts: { inputTokens: 20 } })])
    expect(await unpriced()).toEqual({ runs: 2, tokens: 11 })
  })
})

describe('subtractions from a user', () => {
  const day = Math.floor(NOW / 86_400_000)
  const tokens = async (store: RunStore, user: string, since = day) => (await store.findSpend('t', user, since)).tokens

  it('A subtraction goes to the day of the spend, not to today', async () => {
    const clock = stillClock()
    const store = memoryStore({ clock })
    await record(store, [run('old', { userId: 'u1', counts: { inputTokens: 500 } })])
    clock.advance(86_400_000)
    await record(store, [run('new', { userId: 'u1', counts: { inputTokens: 300 } })])
    await record(store, [run('old', { userId: 'u2', seq: 1 })])
    expect([await tokens(store, 'u1', day + 1), await tokens(store, 'u1')]).toEqual([300, 300])
    expect(await tokens(store, 'u2', day + 1)).toBe(500)
    await record(store, [run('old', { counts: { inputTokens: 600 } })])
    expect([await tokens(store, 'u2', day + 1), await tokens(store, 'u2')]).toEqual([600, 600])
  })

  it('An ancestor that is recorded later does not change the spend of today', async () => {
    const clock = stillClock()
    const store = memoryStore({ clock })
    await record(store, [run('old', { parentRunId: 'p', userId: 'u1', counts: { inputTokens: 500 } })])
    clock.advance(86_400_000)
    await record(store, [run('new', { userId: 'u1', counts: { inputTokens: 300 } }), run('p', { userId: 'u2' })])
    expect([await tokens(store, 'u1', day + 1), await tokens(store, 'u1')]).toEqual([300, 300])
  })

  it('Money is subtracted from the day of the spend too', () => {
    const cost = { amount: '3', currency: 'EUR', source: 'client' as const }
    const before = { ...stored(run('r1', { userId: 'ann', seq: 1, cost })), createdAt: 42 }
    const entry = (amount: string) =>
      decide(run('r1', { seq: 2, cost: { ...cost, amount } }), { run: before }).totalsChanges?.users
    expect(entry('2')).toEqual([{ userId: 'ann', at: 42, add: { ...noSpend(), cost: { EUR: '-1' } } }])
    expect(entry('4')).toEqual([{ userId: 'ann', add: { ...noSpend(), cost: { EUR: '1' } } }])
  })
})

describe('usage of a model', () => {
  it('A model has all counts, custom counters included', () => {
    const counts = { inputTokens: 3, mine: 4 }
    const share = { provider: 'p', model: 'm', counts }
    const [single, shared] = [run('r1', { provider: 'p', model: 'm', counts }), run('r1', { usageByModel: [share] })]
    for (const each of [single, shared]) expect(decide(each).totalsChanges?.session.models.p?.m?.counts).toEqual(counts)
    expect(decide(single).totalsChanges?.session.counts).toEqual(counts)
  })

  it('A model keeps 16 custom counters, and they are subtracted again', async () => {
    const store = memoryStore({ clock: stillClock() })
    const mine = (from: number, length: number, count = 1) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`n${from + index}`, count]))
    const reported = (runId: string, counts: Record<string, number>, more: Partial<RunUpdate> = {}) =>
      run(runId, { provider: 'p', model: 'm', counts: { steps: 1, ...counts }, ...more })
    const third = reported('r3', mine(0, 20), { parentRunId: 't' })
    await record(store, [run('t'), reported('r1', mine(0, 10)), reported('r2', mine(10, 10)), third])
    const shown = async () => (await sessionOf(store)).totals.models.p?.m?.counts
    expect(await shown()).toEqual({ steps: 3, ...mine(0, 16, 2) })
    await record(store, [run('t', { countsScope: 'tree', counts: { steps: 9, ...mine(0, 20, 5) } })])
    expect(await shown()).toEqual({ steps: 2, ...mine(0, 16) })
    expect((await sessionOf(store)).totals.counts.n19).toBe(6)
  })

  it('An empty usageByModel gives the usage to the model of the run', () => {
    const reported = run('r1', { provider: 'p', model: 'm', counts: { steps: 3 } })
    const models = decide(reported).totalsChanges?.session.models
    expect(models?.p?.m?.counts).toEqual({ steps: 3 })
    expect(decide({ ...reported, usageByModel: [] }).totalsChanges?.session.models).toEqual(models)
  })
})

describe('a large subtree that gets a parent', () => {
  /** 104 posts of 16 models each, all below `x`. */
  const descendants = Array.from({ length: 104 }, (_, post) =>
    run(`c${post}`, {
      parentRunId: 'x',
      counts: Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`n${post}_${index}`, 1])),
      usageByModel: Array.from({ length: 16 }, (_, index) => ({
        provider: 'p',
        model: `m${(post * 16 + index) % 208}`,
        counts: Object.fromEntries([...KNOWN_COUNTS, ...namesOf(32, post)].map((name) => [name, 1])),
      })),
    }),
  )
  const ancestors = Array.from({ length: 40 }, (_, index) => run(`p${index + 1}`, { parentRunId: `p${index + 2}` }))

  async function found(updates: readonly RunUpdate[]): Promise<TotalsChanges> {
    const store = memoryStore({ clock: stillClock() })
    await record(store, updates)
    let totalsChanges: TotalsChanges | undefined
    const key = { tenant: 't', sessionId: 's1', runId: 'x', parentRunId: 'p1' }
    await store.mergeRun(key, (snapshot) => {
      const decision = decide(run('x', { parentRunId: 'p1' }), snapshot)
      totalsChanges = decision.totalsChanges
      return decision
    })
    if (!totalsChanges) throw new Error('no sums')
    return totalsChanges
  }

  it('A large subtree adds a bounded number of cells to each of 32 ancestors', async () => {
    const { descendants: sums } = await found([...descendants, ...ancestors])
    expect(sums.map(({ runId }) => runId)).toEqual(ancestors.slice(0, 32).map(({ runId }) => runId))
    for (const { add } of sums) expect(add).toBe(sums[0]?.add)
    // 32 models and `(other)`, each with runs, known counts and 16 counters; 64 counters; the spend and a status.
    const cells = Object.keys(flatSums(sums[0]?.add as Totals)).length
    expect(cells).toBeLessThanOrEqual(33 * (1 + 20 + 16) + 64 + 20 + 4 + 8)
    expect(cells).toBeGreaterThan(33 * 20 + 64)
  })

  it('An ancestor with a user or with countsScope tree changes the totals that go up', async () => {
    const users = descendants.map((each, index) => ({ ...each, userId: `u${index}` }))
    const { descendants: sums } = await found([...users, ...ancestors, run('p3', { userId: 'ann' }), run('p5', TREE)])
    const adds = sums.map(({ add }) => add)
    expect(adds.map((add, index) => index > 0 && add === adds[index - 1])).toEqual(
      adds.map((_, index) => index !== 0 && index !== 3 && index !== 5),
    )
    expect(Object.keys(adds[2]?.users ?? {})).toHaveLength(104)
    expect(Object.keys(adds[3]?.users ?? {})).toEqual(['ann'])
    expect(adds[5]?.counts.n0_0).toBeUndefined()
  })
})

describe('chains of ancestors', () => {
  const chain = (length: number) =>
    Array.from({ length }, (_, index) =>
      run(`r${index}`, { counts: { steps: 1 }, ...(index > 0 && { parentRunId: `r${index - 1}` }) }),
    )

  it.each([
    ['from the top', chain(150)],
    ['from the bottom', chain(150).reverse()],
  ])('Totals go up 32 levels, and runs beyond count as tops, posted %s', async (_, updates) => {
    const store = memoryStore({ clock: stillClock() })
    await record(store, updates)
    const { totals } = await sessionOf(store)
    expect(totals.spend.runs).toBe(150)
    expect(totals.counts).toEqual({ steps: 150 })
  })

  it('A run that is its own ancestor stays cut off for good', async () => {
    const store = memoryStore({ clock: stillClock() })
    await record(store, [
      run('a', { parentRunId: 'b', counts: { steps: 1 } }),
      run('b', { parentRunId: 'c', counts: { steps: 2 } }),
      run('c', { parentRunId: 'a', counts: { steps: 4 } }),
      run('a', { counts: { steps: 8 } }),
      run('c', { counts: { steps: 32 } }),
      run('b', { counts: { steps: 16 } }),
    ])
    const runs = await record(store, [run('own', { parentRunId: 'own', counts: { steps: 64 } })])
    expect(runs.filter(({ derived }) => derived.top).map(({ state }) => state.runId)).toEqual(['c', 'own'])
    const { totals } = await sessionOf(store)
    expect(totals.spend.runs).toBe(4)
    expect(totals.counts).toEqual({ steps: 120 })
  })
})

describe('failures of a session', () => {
  const failed = (runId: string, more: Partial<RunUpdate> = {}) => run(runId, { status: 'failed', seq: 1, ...more })
  const sessionWith = (failures: StoredSession['failures']): StoredSession => ({
    tenant: 't',
    sessionId: 's1',
    createdAt: 0,
    updatedAt: 0,
    totals: noTotals(),
    failures,
  })

  it('A session keeps ten failures, newest first', () => {
    let session = sessionWith([])
    for (let at = 1; at <= 12; at++) {
      const { failures } = decide(failed(`r${at}`, { error: { type: 'timeout' } }), { session }, at)
      session = sessionWith(failures ?? [])
    }
    expect(session.failures).toHaveLength(10)
    expect(session.failures[0]).toEqual({ runId: 'r12', at: 12, error: { type: 'timeout' } })
    expect(session.failures[9]?.runId).toBe('r3')
    expect(
      decide(failed('r1', { counts: { steps: 1 } }), { session, run: stored(failed('r1')) }).failures,
    ).toBeUndefined()
  })

  it('The first run of a session can be a failure', () => {
    expect(decide(failed('r1')).failures).toEqual([{ runId: 'r1', at: NOW }])
    expect(decide(run('r1', { status: 'completed' })).failures).toBeUndefined()
  })

  it('A run that did not fail after all leaves the failures', () => {
    const session = sessionWith([
      { runId: 'r2', at: 2 },
      { runId: 'r1', at: 1 },
    ])
    const later = run('r1', { status: 'completed', seq: 2 })
    expect(decide(later, { session, run: stored(failed('r1')) }).failures).toEqual([{ runId: 'r2', at: 2 }])
  })

  it('A changed error keeps the time of its failure', () => {
    const session = sessionWith([{ runId: 'r1', at: 1, error: { type: 'a' } }])
    const before = stored(failed('r1', { error: { type: 'a' } }))
    const reported = failed('r1', { seq: 2, error: { type: 'b' } })
    expect(decide(reported, { session, run: before }).failures).toEqual([{ runId: 'r1', at: 1, error: { type: 'b' } }])
    const same = structuredClone(session)
    expect(decide(failed('r1', { counts: { steps: 1 } }), { session: same, run: before }).failures).toBeUndefined()
  })

  it('A failure names the user of its run', () => {
    const { failures } = decide(failed('r1', { userId: 'ann' }))
    expect(failures).toEqual([{ runId: 'r1', at: NOW, userId: 'ann' }])
    const before = stored(failed('r1'))
    const session = sessionWith([{ runId: 'r1', at: 1 }])
    const later = decide(failed('r1', { userId: 'ann' }), { session, run: before })
    expect(later.failures).toEqual([{ runId: 'r1', at: 1, userId: 'ann' }])
    const reported = { session: sessionWith(later.failures ?? []), run: stored(failed('r1', { userId: 'ann' })) }
    expect(decide(failed('r1', { counts: { steps: 1 } }), reported).failures).toBeUndefined()
  })
})

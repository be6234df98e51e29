import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { RunReport, RunState, RunStatus } from '../../src/model/run.ts'
import { noTotals } from '../../src/model/totals.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const STATUSES: readonly RunStatus[] = ['running', 'completed', 'failed']

const EMPTY: RunReport = {
  seq: -1,
  earliest: {},
  counts: {},
  final: {},
  latest: { userId: 'u' },
  metadata: {},
  tags: [],
}

interface Kept {
  readonly states: WeakRef<object>[]
  readonly failures: WeakRef<object>[]
}

/** 600 runs of all kinds in two sessions, with weak references to the objects of the store. */
async function fill(store: RunStore, clock: FakeClock): Promise<Kept> {
  const states: WeakRef<object>[] = []
  const failures: WeakRef<object>[] = []
  const put = async (at: number, status: RunStatus, pending: readonly 'failed'[]): Promise<void> => {
    const key = { tenant: 't', sessionId: `s${at % 2}`, runId: `r${at}` }
    const state: RunState = { runId: key.runId, sessionId: key.sessionId, application: { ...EMPTY, status } }
    const failure = { runId: key.runId, at }
    const descendants = [{ runId: `r${at - 2}`, add: noTotals() }]
    await store.mergeRun(key, () => ({
      result: undefined,
      state,
      derived: { ended: [], pending },
      totalsChanges: { session: noTotals(), descendants, users: [] },
      failures: [failure],
    }))
    states[at] = new WeakRef(state)
    failures.push(new WeakRef(failure))
    clock.advance(1)
  }
  for (let at = 0; at < 600; at++) await put(at, STATUSES[at % 3] ?? 'running', at % 2 === 0 ? ['failed'] : [])
  // These end or are reported later than others that were created after them.
  for (let at = 0; at < 600; at += 5) await put(at, 'cancelled', [])
  for (let at = 3; at < 600; at += 5) await put(at, 'failed', ['failed'])
  return { states, failures }
}

async function reportAll(store: RunStore): Promise<void> {
  const { items } = await store.listRuns({ pending: true, limit: 600 })
  for (const { tenant, state } of items) {
    const derived = { ended: [], pending: [] }
    await store.mergeRun({ tenant, ...state }, () => ({ result: undefined, derived }))
  }
}

/** The number of live references. Collects garbage again until it is as low as expected. */
async function countKept(refs: readonly WeakRef<object>[], expected: number): Promise<number> {
  let kept = refs.length
  for (let round = 0; round < 20 && (round < 3 || kept !== expected); round++) {
    // Objects behind a dereferenced weak reference live to the end of the turn.
    await setImmediate()
    collectGarbage()
    kept = refs.filter((ref) => ref.deref() !== undefined).length
  }
  return kept
}

describe('removed runs', () => {
  it('removeRuns removes old runs in batches', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { states } = await fill(store, clock)
    await reportAll(store)
    expect(await countKept(states, 600)).toBe(600)
    const query = { status: [...STATUSES, 'cancelled'], unchangedForMs: 0, limit: 70 } as const
    const counts: number[] = []
    do counts.push(await store.removeRuns(query))
    while (counts.at(-1) === query.limit)
    expect(counts).toEqual([...Array.from({ length: 8 }, () => 70), 40])
    expect(await countKept(states, 0)).toBe(0)
    expect(await store.findSession('t', 's0')).toBeDefined()
  })

  it('removeRuns skips runs with pending events, and removes those behind them', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { states } = await fill(store, clock)
    const query = { status: [...STATUSES, 'cancelled'], unchangedForMs: 0, limit: 1 } as const
    const { items: spared } = await store.listRuns({ pending: true, limit: 600 })
    expect(spared.length).toBeGreaterThan(200)
    for (let left = 600 - spared.length; left > 0; left--) expect(await store.removeRuns(query)).toBe(1)
    expect(await store.removeRuns(query)).toBe(0)
    expect((await store.listRuns({ limit: 600 })).items).toEqual(spared)
    expect(await countKept(states, spared.length)).toBe(spared.length)
  })

  it('Erasing a session frees the memory of its runs', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { states, failures } = await fill(store, clock)
    expect(await countKept(failures, 2)).toBe(2)
    expect(await store.erase('t', { sessionId: 's0' })).toBe(300)
    expect(await countKept(states, 300)).toBe(300)
    expect(await store.erase('t', { sessionId: 's1' })).toBe(300)
    expect(await countKept([...states, ...failures], 0)).toBe(0)
  })

  it('Erasing a user frees the memory of their runs', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { states, failures } = await fill(store, clock)
    expect(await store.erase('t', { userId: 'u' })).toBe(600)
    expect(await countKept([...states, ...failures], 0)).toBe(0)
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import {
  countRuns,
  PENDING,
  put,
  QUIET,
  runKeyOf,
  stateOf,
} from '../../../src/contract-tests/run-store/run-fixtures.ts'
import type { MergeDecision, MergeSnapshot, RunStore } from '../../../src/ports/run-store.ts'
import { Unreadable } from '../../../src/storage/engine/json-values.ts'
import type { Kind, RecordOf } from '../../../src/storage/engine/kinds.ts'
import type { Records } from '../../../src/storage/engine/records.ts'
import { engineRuns } from '../../../src/storage/engine/runs/engine-runs.ts'
import { memoryRecords } from '../../../src/storage/memory/memory-records.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { type CountedRecords, countedRecords } from './counted-records.ts'
import { frozenRecords } from './frozen-records.ts'

let clock: FakeClock
let records: Records
let counted: CountedRecords
let store: RunStore

beforeEach(() => {
  clock = fakeClock()
  records = frozenRecords(memoryRecords(clock))
  counted = countedRecords(records)
  store = engineRuns(counted.records, { isAlone: false })
})

/** Adds one to the run, its session, the descendants of `p` and a user. */
function countUp(runId: string, sessionId: string, userId: string): (snapshot: MergeSnapshot) => MergeDecision<number> {
  return ({ run, session }) => ({
    result: session?.totals.spend.runs ?? 0,
    state: stateOf({ runId, sessionId }, { counts: { steps: (run?.state.application?.counts.steps ?? 0) + 1 } }),
    derived: QUIET,
    totalsChanges: { ...countRuns(1, runId, userId), descendants: [] },
  })
}

async function count(runId: string, sessionId = 's', userId = 'u', from = store): Promise<number> {
  const { result } = await from.mergeRun(runKeyOf(runId, { sessionId }), countUp(runId, sessionId, userId))
  return result
}

/** Replaces columns of the only record of a kind. */
async function replace<Name extends Kind>(kind: Name, columns: Partial<RecordOf<Name>>): Promise<void> {
  const { found } = await records.scan<Name>({ kind, with: [[]], limit: 9 })
  expect(found).toHaveLength(1)
  await records.commit([{ do: 'update', kind, records: [{ ...found[0]?.record, ...columns }] } as never])
}

describe('merges', () => {
  it('A merge on the cache is one commit; other merges, and 50 at once, are one read and one commit', async () => {
    await count('r')
    expect(counted.calls()).toEqual(['read', 'read', 'commit'])
    await count('r')
    expect(counted.calls()).toEqual(['commit'])
    await count('other')
    expect(counted.calls()).toEqual(['read', 'commit'])
    await Promise.all(Array.from({ length: 50 }, (_, at) => count(`q${at}`, `s${at % 10}`)))
    expect(counted.calls()).toEqual(['read', 'commit'])
    expect((await store.findSpend('t', 'u', 0)).runs).toBe(53)
  })

  it('A merge of a run with ancestors is one read and one commit', async () => {
    await put(store, runKeyOf('top'))
    await put(store, runKeyOf('middle'), { parentRunId: 'top' })
    await put(store, runKeyOf('low'), { parentRunId: 'middle' })
    counted.calls()
    await put(store, runKeyOf('low'), { parentRunId: 'middle' })
    expect(counted.calls()).toEqual(['read', 'commit'])
  })

  it('A merge in the transaction of a host reads what another process wrote', async () => {
    const alone = engineRuns(counted.records, { isAlone: true })
    expect(await count('r', 's', 'u', alone)).toBe(0)
    await count('r')
    counted.calls()
    expect(await count('r', 's', 'u', alone)).toBe(2)
    expect(counted.calls()).toEqual(['read', 'read', 'commit'])
  })

  it('A merge without changes writes nothing, and a touch writes the run alone', async () => {
    await count('r')
    counted.calls()
    await store.mergeRun(runKeyOf('r'), () => ({ result: undefined }))
    expect(counted.calls()).toEqual(['read'])
    await store.mergeRun(runKeyOf('r'), () => ({ result: undefined, touched: true }))
    expect(counted.commits.at(-1)?.map(({ do: what, kind }) => [what, kind])).toEqual([['update', 'runs']])
  })

  it('An update keeps the values that a decision does not name', async () => {
    await put(store, runKeyOf('r'), { tags: ['a'] }, { derived: PENDING })
    await put(store, runKeyOf('r'), { tags: ['a'] }, { derived: undefined })
    const [change] = counted.commits.at(-1) ?? []
    expect(change?.records).toMatchObject([{ derived: null, tags: '\n"a"\n' }])
    expect((await store.findRun(runKeyOf('r')))?.derived).toEqual(PENDING)
  })

  it('A failed merge leaves nothing behind', async () => {
    await count('r')
    await count('r')
    for (let times = 0; times < 3; times++) {
      counted.failNext()
      await expect(count('r')).rejects.toThrow('gone')
      await expect(count('r')).resolves.toBe(2 + times)
    }
    expect((await store.findSession('t', 's'))?.totals.spend.runs).toBe(5)
    expect((await store.findSpend('t', 'u', 0)).runs).toBe(5)
  })

  it("Merges by two stores in turns succeed, although each finds the other's write", async () => {
    const other = engineRuns(records, { isAlone: false })
    for (let at = 0; at < 30; at++) expect(await count('r', 's', 'u', at % 2 === 0 ? store : other)).toBe(at)
    expect((await store.findRun(runKeyOf('r')))?.state.application?.counts).toEqual({ steps: 30 })
    expect((await other.findSpend('t', 'u', 0)).runs).toBe(30)
  })

  it('A merge sees the current session after another process erased and recreated it', async () => {
    const other = engineRuns(records, { isAlone: false })
    for (let times = 1; times <= 3; times++) {
      for (let at = 0; at < times; at++) await count('r')
      await other.erase('t', { sessionId: 's' })
      for (let at = 0; at < times; at++) await count('r', 's', 'u', other)
      expect(await count('r')).toBe(times)
      await store.erase('t', { sessionId: 's' })
    }
  })

  it('Concurrent merges of parents and children see the decisions before them', async () => {
    const merges = [0, 1, 2, 3].map((at) =>
      store.mergeRun(runKeyOf(`r${at}`), ({ ancestors, session }) => ({
        result: ancestors.map(({ runId }) => runId),
        state: stateOf(runKeyOf(`r${at}`), { parentRunId: `r${at - 1}` }),
        totalsChanges: countRuns(1, `r${at + 1}`, session ? 'u' : 'v'),
      })),
    )
    expect((await Promise.all(merges)).map(({ result }) => result)).toEqual([[], [], [], []])
    const { result } = await store.mergeRun(runKeyOf('r3'), ({ ancestors, descendants }) => ({
      result: [ancestors.map(({ runId }) => runId), descendants?.spend.runs],
    }))
    expect(result).toEqual([['r2', 'r1', 'r0', 'r-1'], 1])
  })
})

describe('lists of runs', () => {
  it('Runs of one millisecond are listed in the order of their creation, also by a tag', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `r${(at * 7) % 20}`)
    for (const runId of ids) await put(store, runKeyOf(runId), { tags: ['a'] })
    for (const query of [{}, { tag: 'a' }, { status: ['running'] as const }])
      for (const limit of [3, 50]) {
        const listed: string[] = []
        let cursor: string | undefined
        do {
          const page = await store.listRuns({ tenant: 't', ...query, limit, cursor })
          listed.push(...page.items.map(({ state }) => state.runId))
          cursor = page.nextCursor
        } while (cursor !== undefined)
        expect(listed).toEqual(ids)
      }
  })

  it('A list by tag skips tags without a run', async () => {
    for (const runId of ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']) {
      await put(store, runKeyOf(runId), { tags: ['x'] })
      clock.advance(1)
    }
    const { runs = [] } = await records.read([{ kind: 'runs', with: [['r1'], ['r3'], ['r4']] }])
    await records.commit([{ do: 'remove', kind: 'runs', records: runs }])
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const page = await store.listRuns({ tenant: 't', tag: 'x', limit: 1, cursor })
      listed.push(...page.items.map(({ state }) => state.runId))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(listed).toEqual(['r2', 'r5', 'r6'])
  })
})

describe('unreadable records', () => {
  const UNREADABLE = { code: 'record_unreadable' }

  it('A run that cannot be read fails its merges alone, and lists skip it', async () => {
    await put(store, runKeyOf('bad'), { tags: ['a'] })
    await replace('runs', { state: new Unreadable('runs.state', '{"runId":') })
    await put(store, runKeyOf('good', { sessionId: 'other' }), { tags: ['a'] })
    await expect(store.findRun(runKeyOf('bad'))).rejects.toMatchObject(UNREADABLE)
    const merges = [count('bad'), count('fine', 'other'), count('good', 'third')]
    expect((await Promise.allSettled(merges)).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    for (const query of [{}, { tag: 'a' }]) {
      const { items } = await store.listRuns({ tenant: 't', sessionId: 'other', limit: 9, ...query })
      expect(items.map(({ state }) => state.runId)).toContain('good')
    }
    expect((await store.listRuns({ tenant: 't', tag: 'a', limit: 9 })).items).toHaveLength(1)
    expect((await store.listRuns({ limit: 9 })).items).toHaveLength(3)
  })

  it('A session with unreadable totals fails its merges and is skipped by lists', async () => {
    await count('r')
    await replace('sessions', { totals: new Unreadable('sessions.totals', 'x') })
    await expect(count('r')).rejects.toMatchObject(UNREADABLE)
    await expect(store.findSession('t', 's')).rejects.toMatchObject(UNREADABLE)
    expect(await store.listSessions({ tenant: 't', limit: 9 })).toEqual({ items: [] })
    expect(await store.erase('t', { sessionId: 's' })).toBe(1)
    expect(await count('r')).toBe(0)
  })

  it('A spend that cannot be read fails its merges', async () => {
    await count('r')
    await replace('spends', { spend: new Unreadable('spends.spend', '') })
    await expect(store.findSpend('t', 'u', 0)).rejects.toMatchObject(UNREADABLE)
    expect(await store.erase('t', { userId: 'u' })).toBe(0)
    expect((await store.findSpend('t', 'u', 0)).runs).toBe(0)
  })

  it('Unreadable runs are removed by age', async () => {
    await put(store, runKeyOf('r'), { status: 'completed', tags: ['a', 'b'] })
    await replace('runs', { state: new Unreadable('runs.state', '') })
    clock.advance(1_000)
    expect(await store.removeRuns({ status: ['completed'], unchangedForMs: 1, limit: 9 })).toBe(1)
    for (const kind of ['runs', 'run_tags'] as const)
      expect((await records.scan({ kind, with: [[]], limit: 9 })).found).toEqual([])
  })

  it.each([
    ['[{"runId":"r","userId":"jane', []],
    ['[{"runId":"r","userId":"v', undefined],
    ['[{"runId":"erased', []],
  ])(
    'The erasure of a user replaces unreadable failures that may name the user or a run of theirs: %s',
    async (text, left) => {
      await put(store, runKeyOf('erased'), { latest: { userId: 'jane' } })
      await replace('sessions', { failures: new Unreadable('sessions.failures', text) })
      expect(await store.erase('t', { userId: 'jane' })).toBe(1)
      const { sessions = [] } = await records.read([{ kind: 'sessions', with: [['t', 's']] }])
      expect(sessions[0]?.failures).toEqual(left ?? new Unreadable('sessions.failures', text))
    },
  )

  it.each([
    ['{"users":{"jane":', true],
    ['{"users":{"v":', false],
  ])('The erasure of a user replaces unreadable sums that may name the user: %s', async (text, isErased) => {
    await put(store, runKeyOf('r'), {}, { totalsChanges: countRuns(1, 'p', 'v') })
    await replace('run_sums', { totals: new Unreadable('run_sums.totals', text) })
    await store.erase('t', { userId: 'jane' })
    const { run_sums: sums = [] } = await records.read([{ kind: 'run_sums', with: [['t', 's']] }])
    expect(sums[0]?.totals instanceof Unreadable).toBe(!isErased)
  })
})

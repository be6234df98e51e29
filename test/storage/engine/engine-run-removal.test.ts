import { beforeEach, describe, expect, it } from 'vitest'
import { countRuns, own, put, runKeyOf, spendOf, totalsOf } from '../../../src/contract-tests/run-store/run-fixtures.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { KINDS } from '../../../src/storage/engine/declarations.ts'
import type { Kind } from '../../../src/storage/engine/kinds.ts'
import type { Records } from '../../../src/storage/engine/records.ts'
import { engineRuns } from '../../../src/storage/engine/runs/engine-runs.ts'
import { memoryRecords } from '../../../src/storage/memory/memory-records.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { type CountedRecords, countedRecords, sizeOf } from './counted-records.ts'
import { frozenRecords } from './frozen-records.ts'

/** A commit has at most so many records, but for the tags of one run. */
const MOST = 1_050

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

function fill(count: number, each: (at: number) => Promise<unknown>): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, (_, at) => each(at)))
}

async function recordsOf(kind: Kind): Promise<number> {
  return (await records.scan({ kind, with: [[]], limit: 100_000 })).found.length
}

async function expectNoRecords(): Promise<void> {
  for (const kind of Object.keys(KINDS) as Kind[]) expect([kind, await recordsOf(kind)]).toEqual([kind, 0])
}

describe('removeRuns', () => {
  it('Removes many runs with their tags in commits of about 500 records', async () => {
    const tags = ['a', 'b', 'c', `${'x'.repeat(100)}1`, `${'x'.repeat(100)}2`]
    await fill(1_200, (at) => put(store, runKeyOf(`r${at}`), { status: 'completed', tags }))
    clock.advance(1_000)
    const before = counted.commits.length
    const query = { status: ['completed'], unchangedForMs: 1, limit: 1_000 } as const
    expect([await store.removeRuns(query), await store.removeRuns(query)]).toEqual([1_000, 200])
    const sizes = counted.commits.slice(before).map(sizeOf)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(505)
    expect(sizes).toHaveLength(15)
    expect([await recordsOf('runs'), await recordsOf('run_tags')]).toEqual([0, 0])
  })

  it('Removes runs again that another process changed meanwhile', async () => {
    for (const runId of ['r1', 'r2', 'r3']) await put(store, runKeyOf(runId), { status: 'completed' })
    clock.advance(1_000)
    const other = engineRuns(records, { isAlone: false })
    let isFirst = true
    const racing = engineRuns(
      {
        ...records,
        async commit(changes) {
          if (isFirst) await put(other, runKeyOf('r2'), { status: 'completed', tags: ['late'] })
          isFirst = false
          return records.commit(changes)
        },
      },
      { isAlone: false },
    )
    expect(await racing.removeRuns({ status: ['completed'], unchangedForMs: 1, limit: 9 })).toBe(2)
    expect((await store.listRuns({ limit: 9 })).items.map(({ state }) => state.runId)).toEqual(['r2'])
  })

  it('Finds open runs behind others with pending events', async () => {
    const derived = { ended: [], pending: ['budget'] } as const
    await fill(700, (at) => put(store, runKeyOf(`pending${at}`), { status: 'running' }, { derived }))
    clock.advance(1)
    await put(store, runKeyOf('open'), { status: 'running' })
    clock.advance(1_000)
    expect(await store.removeRuns({ status: ['running'], unchangedForMs: 1, limit: 2 })).toBe(1)
    expect(await recordsOf('runs')).toBe(700)
  })
})

describe('erase', () => {
  it('Erases a large session in several commits, the last of which removes the session', async () => {
    await fill(1_500, (at) =>
      put(store, runKeyOf(`r${at}`), { tags: ['a'] }, { totalsChanges: countRuns(1, `p${at}`, 'u') }),
    )
    const before = counted.commits.length
    expect(await store.erase('t', { sessionId: 's' })).toBe(1_500)
    const commits = counted.commits.slice(before)
    expect(commits.length).toBeGreaterThan(3)
    expect(Math.max(...commits.map(sizeOf))).toBeLessThanOrEqual(MOST)
    expect(commits.map((changes) => changes.some(({ kind }) => kind === 'sessions')).indexOf(true)).toBe(
      commits.length - 1,
    )
    await store.erase('t', { userId: 'u' })
    await expectNoRecords()
  })

  it('Erases a small session in one commit', async () => {
    await fill(20, (at) => put(store, runKeyOf(`r${at}`), { tags: ['a'] }, { totalsChanges: countRuns(1, 'p', 'u') }))
    const before = counted.commits.length
    expect(await store.erase('t', { sessionId: 's' })).toBe(20)
    expect(counted.commits.length - before).toBe(1)
  })

  it('Erases a user with much data in several commits', async () => {
    const OF_USER = { latest: { userId: 'u' }, tags: ['a'] }
    const users = own('u', spendOf({ runs: 1 }))
    await fill(700, async (at) => {
      const key = runKeyOf(`r${at}`, { sessionId: `s${at % 350}` })
      const totalsChanges = {
        session: totalsOf(),
        descendants: [{ runId: 'p', add: totalsOf({ users: { ...users, ...own('v', spendOf({ runs: 1 })) } }) }],
        users: [{ userId: 'u', add: spendOf({ runs: 1 }), at: clock.now() - at * 86_400_000 }],
      }
      const failures = [
        { runId: key.runId, at },
        { runId: 'other', at },
      ]
      const isTheirs = at % 2 === 0
      await put(store, key, isTheirs ? OF_USER : {}, { totalsChanges, failures: isTheirs ? failures : [] })
    })
    const agents = { application: { ...OF_USER, latest: { userId: 'w' } } }
    await put(store, runKeyOf('agents', { sessionId: 's0' }), agents.application)
    const before = counted.commits.length
    expect(await store.erase('t', { userId: 'u' })).toBe(350)
    const commits = counted.commits.slice(before)
    expect(commits.length).toBeGreaterThan(3)
    expect(Math.max(...commits.map(sizeOf))).toBeLessThanOrEqual(MOST)
    expect([await recordsOf('spends'), await recordsOf('runs')]).toEqual([0, 351])
    const { run_sums: sums = [], sessions = [] } = await records.read([
      { kind: 'run_sums', with: [['t']] },
      { kind: 'sessions', with: [['t']] },
    ])
    expect(sums).toHaveLength(350)
    for (const { totals } of sums) expect(totals).toMatchObject({ users: { v: { runs: 2 } } })
    expect(JSON.stringify(sums)).not.toContain('"u"')
    for (const { failures } of sessions)
      expect(failures).not.toContainEqual(expect.objectContaining({ runId: expect.stringMatching(/^r/) }))
  })

  it('Erases a user in one commit if there is little data', async () => {
    for (const sessionId of ['s1', 's2'])
      await put(
        store,
        runKeyOf('r', { sessionId }),
        { latest: { userId: 'u' } },
        { totalsChanges: countRuns(1, 'p', 'u') },
      )
    const before = counted.commits.length
    expect(await store.erase('t', { userId: 'u' })).toBe(2)
    expect(counted.commits.length - before).toBe(1)
  })
})

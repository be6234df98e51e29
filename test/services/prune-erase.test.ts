import { describe, expect, it } from 'vitest'
import type { RunStatus } from '../../src/model/run.ts'
import { app, optionProblems } from '../core/runs/test-app.ts'

const DAY = 86_400_000

const ENDS = ['completed', 'incomplete', 'failed', 'cancelled'] as const

/** A run of every status, a day old. */
async function aged() {
  const all = app()
  for (const status of ['queued', 'running', 'waiting', ...ENDS]) await all.post({ runId: status, status })
  await all.post({ runId: 'expired' })
  all.clock.advance(1)
  await all.post({ runId: 'running', status: 'running' })
  await all.runs.sweepStale({ olderThan: 0 })
  all.clock.advance(DAY)
  return { ...all, ids: async () => (await all.runs.list()).items.map(({ runId }) => runId) }
}

describe('pruning', () => {
  it('runs.prune removes runs that ended and have not changed since', async () => {
    const { runs, ids } = await aged()
    expect(await runs.prune({ olderThan: 2 * DAY })).toEqual({ pruned: 0 })
    expect(await runs.prune({ olderThan: DAY - 1 })).toEqual({ pruned: 5 })
    expect(await ids()).toEqual(['queued', 'running', 'waiting'])
    expect(await runs.get({ sessionId: 's1', runId: 'failed' })).toBeUndefined()
    expect(await runs.prune({ olderThan: 0 })).toEqual({ pruned: 0 })
  })

  it('runs.prune uses the last change of a run, not its last post', async () => {
    const { runs, post, clock } = app()
    await post({ runId: 'r1', status: 'failed' })
    clock.advance(DAY)
    await post({ runId: 'r1', status: 'failed' })
    expect(await runs.prune({ olderThan: DAY })).toEqual({ pruned: 0 })
    expect(await runs.prune({ olderThan: DAY - 1 })).toEqual({ pruned: 1 })
  })

  it.each<RunStatus>(['queued', 'running', 'waiting', ...ENDS, 'expired'])(
    'runs.prune can be limited to the status %s',
    async (status) => {
      const { runs, ids } = await aged()
      const all = await ids()
      expect(await runs.prune({ olderThan: 1, status })).toEqual({ pruned: 1 })
      expect(await ids()).toEqual(all.filter((id) => id !== status))
    },
  )

  it('runs.prune covers every tenant, or the given one', async () => {
    const { post, runs, clock } = app()
    const run = { runId: 'r1', status: 'failed' }
    await post(run)
    await post(run, { token: 'other' })
    clock.advance(DAY)
    expect(await runs.prune({ olderThan: 1, tenant: 'other' })).toEqual({ pruned: 1 })
    expect(await runs.get({ sessionId: 's1', runId: 'r1' })).toBeDefined()
    await post(run, { token: 'other' })
    clock.advance(DAY)
    expect(await runs.prune({ olderThan: 1 })).toEqual({ pruned: 2 })
  })

  it('runs.prune keeps the totals of sessions', async () => {
    const { runs, sessions, post, clock } = app()
    for (const runId of ['r1', 'r2'])
      await post({ runId, status: 'failed', error: { type: 'x' }, counts: { inputTokens: 5 }, model: 'gpt-6' })
    clock.advance(DAY)
    const before = await sessions.get('s1')
    expect(before).toMatchObject({ runs: { total: 2, byStatus: { failed: 2 } }, tree: [{}, {}], timeline: [{}, {}] })
    await runs.prune({ olderThan: 1 })
    expect(await sessions.get('s1')).toEqual({ ...before, tree: [], timeline: [] })
  })

  it('runs.prune removes in batches until none is left, and yields to the event loop between them', async () => {
    let turns = 0
    const turnsAt: number[] = []
    const { runs, post, clock } = app((store) => ({
      ...store,
      removeRuns(query) {
        turnsAt.push(turns)
        return store.removeRuns(query)
      },
    }))
    for (let n = 0; n < 1_000; n++) await post({ runId: `r${n}`, status: 'failed' })
    clock.advance(DAY)
    const count = (): void => {
      turns++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    expect(await runs.prune({ olderThan: 1 })).toEqual({ pruned: 1_000 })
    clearImmediate(counting)
    expect(turnsAt).toHaveLength(3)
    expect(new Set(turnsAt).size).toBe(3)
    expect((await runs.list()).items).toEqual([])
  })

  it('runs.prune keeps runs with pending run events, regardless of their number', async () => {
    const { runs, post, clock, store } = app()
    for (let n = 0; n < 1_200; n++) await post({ runId: `r${n}`, status: 'failed' })
    for (let n = 0; n < 600; n++)
      await store.mergeRun({ tenant: 'default', sessionId: 's1', runId: `r${n}` }, () => ({
        result: undefined,
        derived: { ended: ['failed'], pending: ['failed'] },
      }))
    clock.advance(DAY)
    expect(await runs.prune({ olderThan: 1 })).toEqual({ pruned: 600 })
    expect(await runs.prune({ olderThan: 1, status: 'failed' })).toEqual({ pruned: 0 })
    expect((await store.listRuns({ pending: true, limit: 2_000 })).items).toHaveLength(600)
  })

  it('runs.prune reports all problems of its options', async () => {
    const { runs } = app()
    for (const [status, what] of [
      ['done', ''],
      [['failed'], 'is an array of 1; '],
      [null, 'is null; '],
    ]) {
      expect(await optionProblems(() => runs.prune({ olderThan: 1, status } as never))).toEqual([
        {
          field: 'status',
          detail: `${what}must be one of queued, running, waiting, completed, incomplete, failed, cancelled, expired`,
        },
      ])
    }
    const wrong = { olderThan: -1, status: 'done', tenant: '', before: 5 } as never
    expect(
      (await optionProblems(() => runs.prune(wrong))).map((problem) => 'field' in problem && problem.field),
    ).toEqual(['before', 'olderThan', 'tenant', 'status'])
    expect(await optionProblems(() => runs.prune({} as never))).toMatchObject([{ field: 'olderThan' }])
  })

  it('runs.prune rethrows an error of the store', async () => {
    const lost = new TypeError('connection lost')
    const fail = () => Promise.reject(lost)
    const { runs } = app((store) => ({ ...store, removeRuns: fail, erase: fail }))
    await expect(runs.prune({ olderThan: 1 })).rejects.toBe(lost)
    await expect(runs.erase({ userId: 'jane' })).rejects.toBe(lost)
  })
})

describe('erasing', () => {
  async function filled() {
    const all = app()
    await all.post({ runId: 'r1', userId: 'jane' })
    await all.post({ runId: 'r2', userId: 'john' })
    await all.post({ runId: 'r3', userId: 'jane', status: 'waiting' }, { sessionId: 's2' })
    await all.post({ runId: 'r1', userId: 'jane' }, { token: 'other' })
    await all.dispatch('d1')
    return all
  }

  it('runs.erase removes a session with its runs, and keeps its dispatches', async () => {
    const { runs, sessions } = await filled()
    expect(await runs.erase({ sessionId: 's1' })).toEqual({ erased: 2 })
    expect(await sessions.get('s1')).toBeUndefined()
    expect((await sessions.timeline('s1')).items).toMatchObject([{ type: 'dispatch', dispatch: { dispatchId: 'd1' } }])
    expect((await runs.list()).items).toMatchObject([{ runId: 'r3' }])
    expect(await runs.get({ sessionId: 's1', runId: 'r1' }, { tenant: 'other' })).toBeDefined()
  })

  it('runs.erase removes the runs of a user in all sessions', async () => {
    const { runs, sessions } = await filled()
    expect(await runs.erase({ userId: 'jane' })).toEqual({ erased: 2 })
    expect((await runs.list()).items).toMatchObject([{ runId: 'r2' }])
    expect(await sessions.get('s2')).toMatchObject({ runs: { total: 1 } })
    expect(await runs.get({ sessionId: 's1', runId: 'r1' }, { tenant: 'other' })).toBeDefined()
    expect(await runs.erase({ userId: 'jane' }, { tenant: 'other' })).toEqual({ erased: 1 })
    expect(await runs.erase({ userId: 'jane' }, { tenant: 'other' })).toEqual({ erased: 0 })
  })

  it("runs.erase removes a user's failures from session totals, also those of pruned runs", async () => {
    const { runs, sessions, store, clock, post } = app()
    const fail = (runId: string, userId: string, sessionId: string) =>
      post({ runId, userId, status: 'failed', error: { type: 'x' } }, { sessionId })
    await fail('r1', 'john', 's1')
    await fail('r2', 'jane', 's1')
    await fail('r3', 'jane', 's2')
    clock.advance(DAY)
    await runs.prune({ olderThan: 1 })
    expect(await sessions.get('s2')).toMatchObject({ lastError: { runId: 'r3' } })
    expect(await runs.erase({ userId: 'jane' })).toEqual({ erased: 0 })
    expect((await store.findSession('default', 's2'))?.failures).toEqual([])
    expect((await store.findSession('default', 's1'))?.failures).toMatchObject([{ runId: 'r1', userId: 'john' }])
  })

  it('runs.erase of a user keeps descendant runs without a user', async () => {
    const { runs, post } = app()
    await post({ runId: 'top', userId: 'jane' })
    await post({ runId: 'below', parentRunId: 'top' })
    expect(await runs.erase({ userId: 'jane' })).toEqual({ erased: 1 })
    expect((await runs.list()).items).toMatchObject([{ runId: 'below' }])
  })

  it.each([
    {},
    { sessionId: 's1', userId: 'jane' },
    { sessionId: '' },
    { userId: '' },
    { sessionId: '', userId: 'jane' },
    { sessionId: 's1', userId: '' },
    { sessionId: undefined },
    { userId: null },
    { sessionId: 1 },
    { runId: 'r1' },
    { sessionId: 's1', tenant: 'other' },
    null,
    undefined,
    's1',
  ])('runs.erase requires either a session or a user, not %j', async (of) => {
    const { runs } = await filled()
    await optionProblems(() => runs.erase(of as never))
    expect((await runs.list()).items).toHaveLength(3)
  })

  it('runs.erase ignores undefined options', async () => {
    const { runs } = await filled()
    expect(await runs.erase({ sessionId: undefined, userId: 'jane' } as never)).toEqual({ erased: 2 })
  })

  it('runs.erase is scoped to one tenant', async () => {
    const { runs } = await filled()
    await optionProblems(() => runs.erase({ sessionId: 's1' }, { tenant: 'ten ant' }))
    expect(await runs.erase({ sessionId: 's1' }, { tenant: 'nobody' })).toEqual({ erased: 0 })
    expect((await runs.list()).items).toHaveLength(3)
  })
})

import { describe, expect, it } from 'vitest'
import type { RunStatus } from '../../src/model/run.ts'
import type { RunListOptions } from '../../src/services/runs.ts'
import { NOW, runOf } from '../core/runs/recorder.ts'
import { allPages, app } from '../core/runs/test-app.ts'

const STATUSES: readonly RunStatus[] = [
  'queued',
  'running',
  'waiting',
  'completed',
  'incomplete',
  'failed',
  'cancelled',
  'expired',
]

/** Six runs, a second apart; the last belongs to another tenant. */
async function filled() {
  const { post, runs, clock, store } = app()
  const jane = { userId: 'jane', provider: 'openai', model: 'gpt-6' }
  await post({ runId: 'r0', ...jane, tags: ['a', 'b'] })
  clock.advance(1_000)
  await post({ runId: 'r1', ...jane, status: 'failed', tags: ['b'] }, { sessionId: 's2' })
  clock.advance(1_000)
  await post({ runId: 'r2', userId: 'john', provider: 'anthropic', model: 'claude', status: 'completed' })
  clock.advance(1_000)
  await post({ runId: 'r3', ...jane, model: 'gpt-6-mini', responseModel: 'gpt-6', status: 'failed' })
  clock.advance(1_000)
  await post({ runId: 'r4', status: 'waiting' }, { sessionId: 's2' })
  await post({ runId: 'r5', ...jane, tags: ['a'] }, { token: 'other' })
  const ids = async (options?: RunListOptions) => (await runs.list(options)).items.map(({ runId }) => runId)
  return { post, runs, clock, store, ids }
}

describe('a list of runs', () => {
  it('runs.list gives the runs of one tenant, oldest first', async () => {
    const { ids } = await filled()
    expect(await ids()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4'])
    expect(await ids({})).toEqual(['r0', 'r1', 'r2', 'r3', 'r4'])
    expect(await ids({ first: 'oldest' })).toEqual(['r0', 'r1', 'r2', 'r3', 'r4'])
    expect(await ids({ first: 'newest' })).toEqual(['r4', 'r3', 'r2', 'r1', 'r0'])
    expect(await ids({ tenant: 'other' })).toEqual(['r5'])
    expect(await ids({ tenant: 'nobody' })).toEqual([])
  })

  it.each<[string, RunListOptions, readonly string[]]>([
    ['session', { sessionId: 's2' }, ['r1', 'r4']],
    ['status', { status: 'failed' }, ['r1', 'r3']],
    ['status after a post without one', { status: 'running' }, ['r0']],
    ['provider', { provider: 'openai' }, ['r0', 'r1', 'r3']],
    ['the requested model', { model: 'gpt-6' }, ['r0', 'r1']],
    ['user', { userId: 'jane' }, ['r0', 'r1', 'r3']],
    ['tag', { tag: 'b' }, ['r0', 'r1']],
    ['part of a tag', { tag: 'ag' }, []],
    ['time since', { since: NOW + 3_000 }, ['r3', 'r4']],
    ['time since, just after', { since: NOW + 3_001 }, ['r4']],
    ['time until', { until: NOW + 1_000 }, ['r0']],
    ['time until, just after', { until: NOW + 1_001 }, ['r0', 'r1']],
    ['time since as a Date', { since: new Date(NOW + 3_000) }, ['r3', 'r4']],
    ['time until as a Date', { until: new Date(NOW + 1_000) }, ['r0']],
    ['time from epoch', { since: 0, until: 0 }, []],
    ['names of Object.prototype', { tag: 'toString', userId: '__proto__' }, []],
    ['session of another tenant', { tenant: 'other', sessionId: 's2' }, []],
    ['user, newest first', { userId: 'jane', first: 'newest' }, ['r3', 'r1', 'r0']],
  ])('runs.list filters by %s', async (_, options, expected) => {
    expect(await (await filled()).ids(options)).toEqual(expected)
  })

  it('runs.list combines all filters', async () => {
    const { ids } = await filled()
    const all: Required<Omit<RunListOptions, 'cursor'>> = {
      tenant: 'default',
      sessionId: 's2',
      status: 'failed',
      provider: 'openai',
      model: 'gpt-6',
      userId: 'jane',
      tag: 'b',
      since: new Date(NOW + 1_000),
      until: NOW + 1_001,
      first: 'newest',
      limit: 10,
    }
    expect(await ids(all)).toEqual(['r1'])
    const others: readonly Partial<RunListOptions>[] = [
      { tenant: 'other' },
      { sessionId: 's1' },
      { status: 'completed' },
      { provider: 'anthropic' },
      { model: 'claude' },
      { userId: 'john' },
      { tag: 'a' },
      { since: NOW + 1_001 },
      { until: NOW + 1_000 },
    ]
    for (const other of others) expect(await ids({ ...all, ...other })).toEqual([])
  })

  it('runs.list filters by every status, including those that no post can set', async () => {
    const { post, runs, clock } = app()
    for (const status of STATUSES) await post({ runId: status, ...(status !== 'expired' && { status }) })
    clock.advance(10)
    await post({ runId: 'running' })
    await runs.sweepStale({ olderThan: 5 })
    for (const status of STATUSES)
      expect((await runs.list({ status })).items.map(({ runId }) => runId)).toEqual([status])
  })

  it('runs.list ignores undefined options', async () => {
    const { ids } = await filled()
    const names = ['tenant', 'sessionId', 'status', 'provider', 'model', 'userId', 'tag', 'since', 'until', 'first']
    const nothing: RunListOptions = Object.fromEntries([...names, 'limit', 'cursor'].map((name) => [name, undefined]))
    expect(await ids(nothing)).toEqual(['r0', 'r1', 'r2', 'r3', 'r4'])
  })

  it('runs.list shows each run as runs.get does', async () => {
    const { runs } = await filled()
    const [, , third] = (await runs.list()).items
    expect(third).toEqual(await runs.get({ sessionId: 's1', runId: 'r2' }))
    expect(third).toMatchObject({ runId: 'r2', status: 'completed', provider: 'anthropic', revision: 1 })
    expect(await runs.get({ sessionId: 's1', runId: 'r5' })).toBeUndefined()
    expect(await runs.get({ sessionId: 's1', runId: 'r5' }, { tenant: 'other' })).toMatchObject({ runId: 'r5' })
    expect(await runs.get({ sessionId: 's1', runId: '__proto__' })).toBeUndefined()
  })

  it('runs.list has pages of 50, and of 500 at most', async () => {
    const { post, runs } = app()
    for (let n = 0; n < 501; n++) await post({ runId: `r${n}` })
    const sizes = async (limit?: number) =>
      (await allPages((page) => runs.list({ ...page, ...(limit !== undefined && { limit }) }))).map(
        ({ length }) => length,
      )
    expect(await sizes()).toEqual([50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 1])
    expect(await sizes(500)).toEqual([500, 1])
    expect((await runs.list({ limit: 1 })).items).toHaveLength(1)
  })

  it.each(['oldest', 'newest'] as const)(
    'Pages of runs.list have no gaps and no repetitions while runs are added, %s first',
    async (first) => {
      const { runs, post } = await filled()
      let added = 0
      const read = (page: object) => runs.list({ ...page, first, limit: 2, userId: 'jane' })
      const pages = await allPages(read, async () => {
        if (added < 3) await post({ runId: `new-${added++}`, userId: 'jane' })
      })
      const ids = pages.flat().map(({ runId }) => runId)
      expect(ids).toEqual(
        first === 'newest' ? ['r3', 'r1', 'r0'] : ['r0', 'r1', 'r3', 'new-0', 'new-1', 'new-2'].slice(0, ids.length),
      )
      expect(ids.length).toBeGreaterThanOrEqual(3)
    },
  )

  it('runs.list rethrows an error of the store', async () => {
    const gone = new TypeError('connection lost')
    const fail = () => Promise.reject(gone)
    const { runs } = app((store) => ({ ...store, listRuns: fail, findRun: fail }))
    await expect(runs.list()).rejects.toBe(gone)
    await expect(runs.get({ sessionId: 's1', runId: 'r1' })).rejects.toBe(gone)
  })
})

describe('a post without news', () => {
  it('A post without news updates only lastSeenAt', async () => {
    const { post, runs, clock, store } = app()
    const first = runOf(await post({ runId: 'r1', model: 'gpt-6', seq: 1 }))
    const session = await store.findSession('default', 's1')
    clock.advance(5_000)
    const again = runOf(await post({ runId: 'r1', model: 'gpt-6', seq: 1 }))
    expect(again).toEqual({ ...first, lastSeenAt: '2026-11-21T08:00:05.000Z' })
    expect(await runs.get({ sessionId: 's1', runId: 'r1' })).toEqual(again)
    expect(first).toMatchObject({ lastSeenAt: first.createdAt, updatedAt: first.createdAt, revision: 1 })
    expect(await store.findSession('default', 's1')).toEqual(session)
  })
})

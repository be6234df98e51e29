import { describe, expect, it } from 'vitest'
import type { RunChange } from '../../../src/core/runs/signal-outbox.ts'
import { sweepStale } from '../../../src/core/runs/sweep-stale.ts'
import type { EndedRun } from '../../../src/ports/run-exporter.ts'
import type { RunQuery, StoredRun } from '../../../src/ports/run-store.ts'
import { NOW, runOf } from './recorder.ts'
import { app, optionProblems } from './test-app.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A run that began an hour ago and got its last post ten minutes later. */
async function silent() {
  const all = app()
  const { post, clock } = all
  await post({ runId: 'r1', seq: 5, timings: { startedAt: NOW } })
  clock.advance(10 * MINUTE)
  await post({ runId: 'r1', seq: 5, timings: { startedAt: NOW } })
  clock.advance(50 * MINUTE)
  return all
}

describe('sweepStale', () => {
  it('A silent run expires, and ends at its last post', async () => {
    const { runs } = await silent()
    expect(await runs.sweepStale({ olderThan: 30 * MINUTE })).toEqual({ expired: 1 })
    expect(await runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({
      status: 'expired',
      timings: { endedAt: '2026-11-21T08:10:00.000Z', durationMs: 10 * MINUTE },
      seq: 5,
      revision: 2,
      updatedAt: '2026-11-21T09:00:00.000Z',
      lastSeenAt: '2026-11-21T08:10:00.000Z',
    })
    expect(await runs.sweepStale({ olderThan: 0 })).toEqual({ expired: 0 })
  })

  it('A run expires just after the given time', async () => {
    const { runs } = await silent()
    expect(await runs.sweepStale({ olderThan: 50 * MINUTE })).toEqual({ expired: 0 })
    expect(await runs.sweepStale({ olderThan: 50 * MINUTE - 1 })).toEqual({ expired: 1 })
  })

  it('Queued, waiting and ended runs do not expire', async () => {
    const { post, runs, clock } = app()
    const statuses = ['queued', 'waiting', 'completed', 'incomplete', 'failed', 'cancelled']
    for (const status of statuses) await post({ runId: status, status })
    clock.advance(HOUR)
    expect(await runs.sweepStale({ olderThan: 1 })).toEqual({ expired: 0 })
    for (const status of statuses)
      expect(await runs.get({ sessionId: 's1', runId: status })).toMatchObject({ status, revision: 1 })
  })

  it('An expired run does not end before its start if the clock of the agent was ahead', async () => {
    const { post, runs, clock } = app()
    await post({ runId: 'r1', timings: { startedAt: NOW + 2 * MINUTE } })
    clock.advance(HOUR)
    await runs.sweepStale({ olderThan: MINUTE })
    expect((await runs.get({ sessionId: 's1', runId: 'r1' }))?.timings).toEqual({
      startedAt: '2026-11-21T08:02:00.000Z',
      endedAt: '2026-11-21T08:02:00.000Z',
      durationMs: 0,
    })
  })

  it.each<[string, object]>([
    ['a lower seq', { seq: 4 }],
    ['a higher seq', { seq: 6 }],
    ['the same seq', { seq: 5 }],
    ['no seq', {}],
  ])('A late end with %s replaces expired', async (_, seq) => {
    const { runs, post } = await silent()
    await runs.sweepStale({ olderThan: MINUTE })
    const end = { runId: 'r1', status: 'completed', timings: { endedAt: NOW + 40 * MINUTE }, finishReason: 'stop' }
    const answer = runOf(await post({ ...end, ...seq }))
    expect(answer).toMatchObject({
      status: 'completed',
      finishReason: 'stop',
      timings: { endedAt: '2026-11-21T08:40:00.000Z', durationMs: 40 * MINUTE },
    })
    expect(answer.seq).toBe(Math.max(5, 'seq' in seq ? Number(seq.seq) : 5))
    expect(await runs.sweepStale({ olderThan: 0 })).toEqual({ expired: 0 })
  })

  it.each(['queued', 'running', 'waiting'])('A late post with %s does not replace expired', async (status) => {
    const { runs, post } = await silent()
    await runs.sweepStale({ olderThan: MINUTE })
    expect(runOf(await post({ runId: 'r1', status, seq: 9 }))).toMatchObject({
      status: 'expired',
      lastSeenAt: '2026-11-21T09:00:00.000Z',
      timings: { endedAt: '2026-11-21T08:10:00.000Z' },
    })
  })

  it('A sweep covers all tenants, or the given one', async () => {
    const { post, runs, clock } = app()
    await post({ runId: 'r1' })
    await post({ runId: 'r1' }, { token: 'other' })
    clock.advance(HOUR)
    expect(await runs.sweepStale({ olderThan: MINUTE, tenant: 'other' })).toEqual({ expired: 1 })
    expect([
      await runs.get({ sessionId: 's1', runId: 'r1' }),
      await runs.get({ sessionId: 's1', runId: 'r1' }, { tenant: 'other' }),
    ]).toMatchObject([{ status: 'running' }, { status: 'expired' }])
    expect(await runs.sweepStale({ olderThan: MINUTE })).toEqual({ expired: 1 })
    expect(await runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({ status: 'expired' })
  })

  it('A sweep reads all pages and yields to the event loop in between', async () => {
    let turns = 0
    const turnsAt: number[] = []
    const { post, runs, clock } = app((store) => ({
      ...store,
      async listRuns(query) {
        turnsAt.push(turns)
        return store.listRuns(query)
      },
    }))
    for (let n = 0; n < 350; n++) await post({ runId: `r${n}`, ...(n % 5 === 0 && { status: 'waiting' }) })
    clock.advance(HOUR)
    const count = (): void => {
      turns++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    expect(await runs.sweepStale({ olderThan: MINUTE })).toEqual({ expired: 280 })
    clearImmediate(counting)
    expect(turnsAt.length).toBeGreaterThan(2)
    expect(new Set(turnsAt).size).toBe(turnsAt.length)
    expect((await runs.list({ status: 'running' })).items).toEqual([])
  })

  it('A sweep expires the others when some fail, and throws the first error', async () => {
    const lost = new TypeError('connection lost')
    let isLost = true
    const { post, runs, clock } = app((store) => ({
      ...store,
      mergeRun: (key, decide) =>
        isLost && /^r(0|7|149)$/.test(key.runId) && clock.now() > NOW
          ? Promise.reject(lost)
          : store.mergeRun(key, decide),
    }))
    for (let n = 0; n < 150; n++) await post({ runId: `r${n}` })
    clock.advance(HOUR)
    await expect(runs.sweepStale({ olderThan: MINUTE })).rejects.toBe(lost)
    const left = (await runs.list({ status: 'running' })).items
    expect(left.map(({ runId }) => runId)).toEqual(['r0', 'r7', 'r149'])
    isLost = false
    expect(await runs.sweepStale({ olderThan: MINUTE })).toEqual({ expired: 3 })
  })

  it('A sweep throws what listRuns throws', async () => {
    const lost = new TypeError('connection lost')
    const { runs } = app((store) => ({ ...store, listRuns: () => Promise.reject(lost) }))
    await expect(runs.sweepStale({ olderThan: 1 })).rejects.toBe(lost)
  })
})

describe('a run that changes during a sweep', () => {
  /** Runs an action after the runs were listed and before any is merged. */
  async function meanwhile(change: (all: ReturnType<typeof app>) => Promise<unknown>) {
    let isListed = false
    const all = app((store) => ({
      ...store,
      async listRuns(query: RunQuery) {
        const page = await store.listRuns(query)
        if (!isListed) {
          isListed = true
          await change(all)
        }
        return page
      },
    }))
    await all.post({ runId: 'r1' })
    all.clock.advance(HOUR)
    return { ...all, result: await all.runs.sweepStale({ olderThan: MINUTE }) }
  }

  it('A run that gets a post during a sweep stays as it is', async () => {
    const { runs, result } = await meanwhile(({ post }) => post({ runId: 'r1' }))
    expect(result).toEqual({ expired: 0 })
    expect(await runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({
      status: 'running',
      revision: 1,
      lastSeenAt: '2026-11-21T09:00:00.000Z',
    })
  })

  it('A run whose last post is recent enough stays as it is', async () => {
    const { result } = await meanwhile(async ({ post, clock }) => {
      clock.advance(-MINUTE)
      await post({ runId: 'r1' })
      clock.advance(MINUTE)
    })
    expect(result).toEqual({ expired: 0 })
  })

  it.each(['queued', 'waiting', 'completed'])(
    'A run that became %s stays as it is, however long ago',
    async (status) => {
      const { runs, result } = await meanwhile(async ({ post, clock }) => {
        clock.advance(-30 * MINUTE)
        await post({ runId: 'r1', status, seq: 1 })
        clock.advance(30 * MINUTE)
      })
      expect(result).toEqual({ expired: 0 })
      expect(await runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({ status, revision: 2 })
    },
  )

  it('A run with another lastSeenAt is spared, whatever the store clock says', async () => {
    const { runs, result } = await meanwhile(async ({ post, clock }) => {
      clock.advance(-30 * MINUTE)
      await post({ runId: 'r1' })
      clock.advance(30 * MINUTE)
    })
    expect(result).toEqual({ expired: 0 })
    expect(await runs.sweepStale({ olderThan: 30 * MINUTE - 1 })).toEqual({ expired: 1 })
    expect((await runs.get({ sessionId: 's1', runId: 'r1' }))?.timings?.endedAt).toBe('2026-11-21T08:30:00.000Z')
  })

  it('A run that was erased during a sweep does not come back', async () => {
    const gone = await meanwhile(({ runs }) => runs.erase({ sessionId: 's1' }))
    expect(gone.result).toEqual({ expired: 0 })
    expect(await gone.runs.get({ sessionId: 's1', runId: 'r1' })).toBeUndefined()
    expect(await gone.store.findSession('default', 's1')).toBeUndefined()
    const kept = await meanwhile(async ({ post, runs, clock }) => {
      await post({ runId: 'r1', status: 'failed' })
      clock.advance(1)
      await runs.prune({ olderThan: 0 })
    })
    expect(kept.result).toEqual({ expired: 0 })
    expect(await kept.runs.get({ sessionId: 's1', runId: 'r1' })).toBeUndefined()
    expect(await kept.store.findSession('default', 's1')).toBeDefined()
  })
})

describe('an expired run', () => {
  it('An expired run is exported and published once, as any ended run', async () => {
    const { deps, post, store } = await silent()
    const exported: EndedRun[] = []
    const published: string[] = []
    const all = {
      ...deps,
      exporters: [{ export: (run: EndedRun) => void exported.push(run) }],
      outbox: {
        signals: ({ newEnd }: RunChange) => (newEnd === 'expired' ? [{ name: newEnd }] : []),
        publish: ({ state }: StoredRun) => void published.push(state.runId),
        publishPending: async () => 0,
      },
    }
    expect(await sweepStale(MINUTE, all)).toEqual({ expired: 1 })
    expect(await sweepStale(0, all)).toEqual({ expired: 0 })
    expect(exported).toMatchObject([{ tenant: 'default', runId: 'r1', status: 'expired' }])
    expect(published).toEqual(['r1'])
    expect((await store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' }))?.derived).toMatchObject({
      ended: ['expired'],
      pending: ['expired'],
    })
    await post({ runId: 'r1', status: 'failed' })
    expect((await store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' }))?.derived.ended).toEqual([
      'expired',
      'failed',
    ])
  })

  it('A session counts a run as expired, and later by its final status', async () => {
    const { runs, sessions, post } = await silent()
    await runs.sweepStale({ olderThan: MINUTE })
    expect((await sessions.get('s1'))?.runs).toEqual({ total: 1, byStatus: { expired: 1 } })
    await post({ runId: 'r1', status: 'completed' })
    expect((await sessions.get('s1'))?.runs).toEqual({ total: 1, byStatus: { completed: 1 } })
  })
})

describe('options of a sweep', () => {
  it.each([null, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '60000', new Date(0), NOW])(
    'Cannot be older than %s',
    async (olderThan) => {
      expect(await optionProblems(() => app().runs.sweepStale({ olderThan } as never))).toEqual([
        { field: 'olderThan', detail: expect.stringContaining('must be a whole number from 0 to') },
      ])
    },
  )

  it('All options of a sweep are checked', async () => {
    const { runs } = app()
    expect(await optionProblems(() => runs.sweepStale(undefined as never))).toEqual([
      { detail: 'is undefined; must be an object of options' },
    ])
    expect(await optionProblems(() => runs.sweepStale({ olderThanMs: 5, tenant: 'a b' } as never))).toMatchObject([
      { field: 'olderThanMs', detail: 'is not an option; near: olderThan' },
      { field: 'tenant' },
    ])
  })
})

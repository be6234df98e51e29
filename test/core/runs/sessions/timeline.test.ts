import { describe, expect, it } from 'vitest'
import { fc, runs } from '../../../support/properties.ts'
import { allPages, app, idOf, optionProblems } from '../test-app.ts'

type TestApp = ReturnType<typeof app>

/** Reads a whole timeline in pages of one size, with an action after each. */
async function whole({ sessions }: TestApp, limit: number | (() => number), between?: () => Promise<unknown>) {
  const size = typeof limit === 'number' ? () => limit : limit
  const pages = await allPages((page) => sessions.timeline('s1', { ...page, limit: size() }), between)
  return pages.flat()
}

describe('a timeline', () => {
  it('A timeline has runs and dispatches, oldest first, in their usual views', async () => {
    const all = app()
    const { post, dispatch, clock, runs, sessions } = all
    await post({ runId: 'r1' })
    clock.advance(1_000)
    await dispatch('d1')
    clock.advance(1_000)
    await post({ runId: 'r2' })
    await post({ runId: 'r1', status: 'completed' })
    const { items, nextCursor } = await sessions.timeline('s1')
    expect(items).toEqual([
      { type: 'run', at: '2026-11-21T08:00:00.000Z', run: await runs.get({ sessionId: 's1', runId: 'r1' }) },
      {
        type: 'dispatch',
        at: '2026-11-21T08:00:01.000Z',
        dispatch: expect.objectContaining({ dispatchId: 'd1', createdAt: '2026-11-21T08:00:01.000Z', sessionId: 's1' }),
      },
      { type: 'run', at: '2026-11-21T08:00:02.000Z', run: await runs.get({ sessionId: 's1', runId: 'r2' }) },
    ])
    expect(nextCursor).toBeUndefined()
  })

  it('A run comes before a dispatch of the same millisecond', async () => {
    const all = app()
    for (const n of [1, 2]) {
      await all.dispatch(`d${n}`)
      await all.post({ runId: `r${n}` })
    }
    for (const limit of [1, 2, 3, 4, 5]) expect((await whole(all, limit)).map(idOf)).toEqual(['r1', 'r2', 'd1', 'd2'])
  })

  it('A timeline shows one session of one tenant', async () => {
    const all = app()
    await all.post({ runId: 'r1' })
    await all.post({ runId: 'r2' }, { sessionId: 's2' })
    await all.post({ runId: 'r3' }, { token: 'other' })
    await all.dispatch('d1', 's2')
    await all.dispatch('d2', 's1', 'other')
    expect((await whole(all, 9)).map(idOf)).toEqual(['r1'])
    const theirs = await all.sessions.timeline('s1', { tenant: 'other' })
    expect(theirs.items.map(idOf)).toEqual(['r3', 'd2'])
    expect(await all.sessions.timeline('none')).toEqual({ items: [] })
    expect(await all.sessions.timeline('s1', { tenant: 'nobody' })).toEqual({ items: [] })
  })

  it('A timeline has pages of 50, and no page after a full last one', async () => {
    const all = app()
    for (let n = 0; n < 30; n++) {
      await all.post({ runId: `r${n}` })
      await all.dispatch(`d${n}`)
      all.clock.advance(1)
    }
    const expected = Array.from({ length: 30 }, (_, n) => [`r${n}`, `d${n}`]).flat()
    expect((await all.sessions.timeline('s1')).items.map(idOf)).toEqual(expected.slice(0, 50))
    const pages = await allPages((page) => all.sessions.timeline('s1', { ...page, limit: 20 }))
    expect(pages.map((page) => page.map(idOf))).toEqual([
      expected.slice(0, 20),
      expected.slice(20, 40),
      expected.slice(40),
    ])
    expect((await all.sessions.timeline('s1', { limit: 60 })).nextCursor).toBeUndefined()
    expect((await all.sessions.timeline('s1', { limit: 59 })).nextCursor).toBeDefined()
  })

  it('Pages of any size work for lists of very different lengths', async () => {
    const all = app()
    const expected: string[] = []
    for (let n = 0; n < 450; n++) {
      const isRun = n % 150 === 0
      const id = `${isRun ? 'r' : 'd'}${n}`
      await (isRun ? all.post({ runId: id }) : all.dispatch(id))
      expected.push(id)
      all.clock.advance(1)
    }
    for (const limit of [7, 99, 100, 101, 500]) expect((await whole(all, limit)).map(idOf)).toEqual(expected)
  })

  it('A page of a long timeline needs few store calls', async () => {
    let asked = 0
    const all = app((store) => ({
      ...store,
      async listRuns(query) {
        const page = await store.listRuns(query)
        asked += page.items.length
        return page
      },
    }))
    for (let n = 0; n < 1_000; n++) await all.post({ runId: `r${n}` })
    const costs: number[] = []
    await whole(all, 50, async () => {
      costs.push(asked)
      asked = 0
    })
    expect(costs).toHaveLength(20)
    expect(Math.max(...costs)).toBeLessThanOrEqual(200)
  })

  it('No entry is skipped when the last shown one is removed', async () => {
    const all = app()
    for (const n of [0, 1, 2, 3]) {
      await all.post({ runId: `r${n}`, userId: `user-${n}` })
      all.clock.advance(1)
    }
    const { items, nextCursor = '' } = await all.sessions.timeline('s1', { limit: 2 })
    expect(items.map(idOf)).toEqual(['r0', 'r1'])
    await all.runs.erase({ userId: 'user-1' })
    const rest = await all.sessions.timeline('s1', { cursor: nextCursor })
    expect(rest.items.map(idOf)).toEqual(['r2', 'r3'])
    await all.runs.erase({ userId: 'user-2' })
    await all.runs.erase({ userId: 'user-3' })
    expect((await all.sessions.timeline('s1', { cursor: nextCursor })).items).toEqual([])
  })

  it('No entry is skipped when the last shown one is removed and more came in the same millisecond', async () => {
    const all = app()
    for (const n of [0, 1, 2]) await all.post({ runId: `r${n}`, userId: `user-${n}` })
    const { nextCursor = '' } = await all.sessions.timeline('s1', { limit: 1 })
    await all.runs.erase({ userId: 'user-0' })
    expect((await all.sessions.timeline('s1', { cursor: nextCursor })).items.map(idOf)).toEqual(['r1', 'r2'])
  })

  it('No entry of a long list is skipped when the clock runs backwards', async () => {
    const all = app()
    for (let n = 0; n < 150; n++) {
      await all.post({ runId: `r${n}` })
      all.clock.advance(-1)
    }
    expect((await whole(all, 60)).map(idOf)).toEqual(Array.from({ length: 150 }, (_, n) => `r${149 - n}`))
  })

  it('A timeline throws what the store throws', async () => {
    const lost = new TypeError('connection lost')
    const fail = () => Promise.reject(lost)
    for (const broken of [{ listRuns: fail }, { listDispatches: fail }]) {
      const { sessions } = app((store) => ({ ...store, ...broken }))
      await expect(sessions.timeline('s1')).rejects.toBe(lost)
    }
  })

  it('A timeline refuses cursors of another session or list, and invalid options', async () => {
    const { post, sessions } = app()
    for (const sessionId of ['s1', 's2'])
      for (const n of [0, 1, 2]) await post({ runId: `${sessionId}-${n}` }, { sessionId })
    const { nextCursor = '' } = await sessions.timeline('s1', { limit: 1 })
    const tree = (await sessions.tree('s1', { limit: 1 })).nextCursor
    const problem = [{ field: 'cursor', detail: 'must be the nextCursor of a page of this list' }]
    expect(await optionProblems(() => sessions.timeline('s2', { cursor: nextCursor }))).toEqual(problem)
    for (const cursor of [tree, nextCursor.slice(0, -1), 'x', ':::::'])
      expect(await optionProblems(() => sessions.timeline('s1', { cursor: cursor as string }))).toEqual(problem)
    const wrong = { limit: 0, cursor: 1, tenant: '', status: 'failed', sessionId: 's2' } as never
    expect(
      (await optionProblems(() => sessions.timeline('s1', wrong))).map((found) => 'field' in found && found.field),
    ).toEqual(['status', 'sessionId', 'tenant', 'limit', 'cursor'])
    for (const id of [undefined, null, 5, {}]) await optionProblems(() => sessions.timeline(id as never))
  })
})

/** Additions to a session: a run or a dispatch, after some milliseconds. */
const happening = fc.record({ of: fc.constantFrom('run', 'dispatch'), afterMs: fc.constantFrom(0, 0, 1, 5) })

describe('pages of a timeline', () => {
  const happenings = fc.array(happening, { maxLength: 40 })
  const additions = fc.array(fc.array(happening, { maxLength: 3 }), { maxLength: 12 })
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 })

  const nameOf = (of: string, number: number): string => `${of}-${String(number).padStart(3, '0')}`

  async function lived(all: TestApp) {
    let count = 0
    const ids: string[] = []
    const happen = async (what: readonly { readonly of: string; readonly afterMs: number }[]) => {
      for (const { of, afterMs } of what) {
        all.clock.advance(afterMs)
        // Dispatches of one millisecond are listed by their ids.
        const id = nameOf(of, ++count)
        await (of === 'run' ? all.post({ runId: id, userId: id }) : all.dispatch(id))
        ids.push(id)
      }
    }
    return { happen, ids }
  }

  /** Page sizes, used in turn. */
  function inTurn(given: readonly number[]): () => number {
    let turn = 0
    return () => given[turn++ % given.length] ?? 1
  }

  it('Pages show every entry once and in order while entries are added', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, additions, sizes, async (before, between, given) => {
        const all = app()
        const { happen, ids } = await lived(all)
        await happen(before)
        const there = [...ids]
        const left = [...between]
        const seen = await whole(all, inTurn(given), () => happen(left.shift() ?? []))
        const found = seen.map(idOf)
        expect(new Set(found).size).toBe(found.length)
        expect(found).toEqual(expect.arrayContaining(there))
        for (const list of ['run', 'dispatch']) {
          const mine = found.filter((id) => id.startsWith(list))
          expect(mine).toEqual(ids.filter((id) => id.startsWith(list)).slice(0, mine.length))
        }
        const times = seen.map(({ at }) => at)
        expect(times).toEqual(times.toSorted())
      }),
      { numRuns: runs(150) },
    )
  })

  it('Pages skip no remaining entry while entries are removed', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, sizes, fc.array(fc.nat(60), { maxLength: 8 }), async (before, given, gone) => {
        const all = app()
        const { happen, ids } = await lived(all)
        await happen(before)
        const left = gone.map((n) => nameOf('run', n))
        const removed = new Set<string>()
        const seen = await whole(all, inTurn(given), async () => {
          const userId = left.shift()
          if (userId === undefined) return
          removed.add(userId)
          await all.runs.erase({ userId })
        })
        expect(seen.map(idOf)).toEqual(expect.arrayContaining(ids.filter((id) => !removed.has(id))))
      }),
      { numRuns: runs(100) },
    )
  })

  it('Pages keep the order of each list when a clock is set back', async () => {
    const jumps = fc.array(
      fc.record({ of: fc.constantFrom('run', 'dispatch'), afterMs: fc.integer({ min: -5, max: 5 }) }),
    )
    await fc.assert(
      fc.asyncProperty(jumps, sizes, async (before, given) => {
        const all = app()
        const { happen, ids } = await lived(all)
        await happen(before)
        const found = (await whole(all, inTurn(given))).map(idOf)
        expect(found).toHaveLength(ids.length)
        const query = { tenant: 'default', sessionId: 's1', first: 'oldest', limit: 500 } as const
        const runs = (await all.store.listRuns(query)).items.map(({ state }) => state.runId)
        const dispatches = (await all.store.listDispatches(query)).items.map(({ dispatchId }) => dispatchId)
        expect(found.filter((id) => id.startsWith('run'))).toEqual(runs)
        expect(found.filter((id) => id.startsWith('dispatch'))).toEqual(dispatches)
      }),
      { numRuns: runs(100) },
    )
  })
})

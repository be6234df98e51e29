import { describe, expect, it } from 'vitest'
import type { RunNode } from '../../src/model/session.ts'
import { allPages, app, idOf, optionProblems } from '../core/runs/test-app.ts'

const idsOf = (nodes: readonly RunNode[]): string[] =>
  nodes.flatMap(({ runId, children }) => [runId, ...idsOf(children)])

describe('a session', () => {
  it('sessions.get shows totals, tree and timeline', async () => {
    const { post, dispatch, sessions, clock } = app()
    await post({ runId: 'parent', agent: { name: 'planner' }, timings: { startedAt: clock.now() } })
    clock.advance(1_000)
    await dispatch('d1')
    await post({ runId: 'child', parentRunId: 'parent', model: 'gpt-6', status: 'failed' })
    clock.advance(1_000)
    await post({ runId: 'stray', parentRunId: 'unknown' })
    const session = await sessions.get('s1')
    expect(session).toMatchObject({
      sessionId: 's1',
      createdAt: '2026-11-21T08:00:00.000Z',
      updatedAt: '2026-11-21T08:00:02.000Z',
      runs: { total: 3, byStatus: { running: 2, failed: 1 } },
    })
    expect(session?.tree).toEqual([
      {
        runId: 'parent',
        status: 'running',
        agent: { name: 'planner' },
        startedAt: '2026-11-21T08:00:00.000Z',
        children: [{ runId: 'child', status: 'failed', model: 'gpt-6', children: [] }],
      },
      { runId: 'stray', status: 'running', parentRunId: 'unknown', children: [] },
    ])
    expect(session?.timeline.map(idOf)).toEqual(['parent', 'child', 'd1', 'stray'])
    expect(session?.timeline).toEqual((await sessions.timeline('s1')).items)
  })

  it('sessions.get shows totals of one instant despite concurrent posts', async () => {
    let meanwhile = async (): Promise<unknown> => undefined
    const { post, sessions } = app((store) => ({
      ...store,
      async listRuns(query) {
        await meanwhile()
        return store.listRuns(query)
      },
    }))
    await post({ runId: 'r1', status: 'completed' })
    meanwhile = () => post({ runId: 'r2', status: 'failed' })
    const session = await sessions.get('s1')
    expect(session).toMatchObject({ runs: { total: 1, byStatus: { completed: 1 } } })
    expect(session).not.toHaveProperty('lastError')
  })

  it('sessions.get gives an opened session, which is empty at first', async () => {
    const { sessions } = app()
    await sessions.open('s1')
    expect(await sessions.get('s1')).toMatchObject({ runs: { total: 0 }, tree: [], timeline: [] })
    expect(await sessions.get('s2')).toBeUndefined()
    expect(await sessions.get('s1', { tenant: 'other' })).toBeUndefined()
  })

  it('Dispatches alone create no session, but appear in its timeline', async () => {
    const { sessions, dispatch } = app()
    await dispatch('d1')
    expect(await sessions.get('s1')).toBeUndefined()
    expect((await sessions.timeline('s1')).items.map(idOf)).toEqual(['d1'])
    expect(await sessions.tree('s1')).toEqual({ items: [] })
  })

  it('sessions.get shows the newest 100 runs, and the newest 100 entries of runs and dispatches together', async () => {
    const { post, dispatch, sessions, clock } = app()
    const order: string[] = []
    for (let n = 0; n < 120; n++) {
      await post({ runId: `r${n}` })
      order.push(`r${n}`)
      if (n % 2 === 0) {
        await dispatch(`d${n}`)
        order.push(`d${n}`)
      }
      clock.advance(1)
    }
    const session = await sessions.get('s1')
    expect(idsOf(session?.tree ?? [])).toEqual(Array.from({ length: 100 }, (_, n) => `r${n + 20}`))
    expect(session?.timeline.map(idOf)).toEqual(order.slice(-100))
  })

  it('sessions.get shows only runs, or only dispatches, if the newest entries are of one kind', async () => {
    const { post, dispatch, sessions, clock } = app()
    await post({ runId: 'r' })
    clock.advance(1)
    for (let n = 0; n < 150; n++) {
      await dispatch(`d${n}`)
      clock.advance(1)
    }
    const first = await sessions.get('s1')
    expect(first?.timeline.map(idOf)).toEqual(Array.from({ length: 100 }, (_, n) => `d${n + 50}`))
    expect(idsOf(first?.tree ?? [])).toEqual(['r'])
    clock.advance(1)
    for (let n = 0; n < 100; n++) await post({ runId: `r${n}` })
    const second = await sessions.get('s1')
    expect(second?.timeline.map(idOf)).toEqual(Array.from({ length: 100 }, (_, n) => `r${n}`))
  })

  it('sessions.get makes the same number of store calls for any session', async () => {
    const asked: unknown[] = []
    const { post, dispatch, sessions } = app((store) => ({
      ...store,
      async listRuns(query) {
        const page = await store.listRuns(query)
        asked.push([query.limit, page.items.length])
        return page
      },
      async listDispatches(query) {
        const page = await store.listDispatches(query)
        asked.push([query.limit, page.items.length])
        return page
      },
    }))
    for (let n = 0; n < 300; n++) {
      await post({ runId: `r${n}` })
      await dispatch(`d${n}`)
    }
    await sessions.get('s1')
    expect(asked).toEqual([
      [100, 100],
      [100, 100],
    ])
  })

  it('sessions.get is scoped to its tenant', async () => {
    const { post, dispatch, sessions } = app()
    await post({ runId: 'r1', model: 'mine' })
    await post({ runId: 'r1', model: 'theirs' }, { token: 'other' })
    await dispatch('d1', 's1', 'other')
    const mine = await sessions.get('s1')
    const theirs = await sessions.get('s1', { tenant: 'other' })
    expect(mine?.tree).toMatchObject([{ model: 'mine' }])
    expect(mine?.timeline.map(idOf)).toEqual(['r1'])
    expect(theirs?.tree).toMatchObject([{ model: 'theirs' }])
    expect(theirs?.timeline.map(idOf)).toEqual(['r1', 'd1'])
    for (const call of [sessions.get, sessions.open, sessions.tree, sessions.timeline])
      await optionProblems(() => call('s1', { tenant: 'ten ant' }))
  })

  it('sessions.get rethrows an error of the store', async () => {
    const lost = new TypeError('connection lost')
    const fail = () => Promise.reject(lost)
    for (const broken of ['findSession', 'listRuns', 'listDispatches']) {
      const { sessions, post } = app((store) => ({ ...store, [broken]: fail }))
      await post({ runId: 'r1' })
      await expect(sessions.get('s1')).rejects.toBe(lost)
    }
    const { sessions } = app((store) => ({ ...store, listRuns: fail, openSession: fail }))
    await expect(sessions.tree('s1')).rejects.toBe(lost)
    await expect(sessions.open('s1')).rejects.toBe(lost)
  })

  it.each(['', 'a b', 'x'.repeat(201), 'ü', 5, undefined, null])('sessions.open refuses the id %j', async (id) => {
    const { sessions } = app()
    await optionProblems(() => sessions.open(id as string))
  })
})

describe('the tree of a session', () => {
  it('sessions.tree gives pages of runs, oldest first, each nested in its parent when both are on one page', async () => {
    const { post, sessions } = app()
    const parents = [undefined, 'r0', 'r1', 'r0', undefined, 'r3']
    for (const [n, parentRunId] of parents.entries())
      await post({ runId: `r${n}`, ...(parentRunId && { parentRunId }) })
    const pages = await allPages((page) => sessions.tree('s1', { ...page, limit: 3 }))
    expect(pages).toMatchObject([
      [{ runId: 'r0', children: [{ runId: 'r1', children: [{ runId: 'r2', children: [] }] }] }],
      [
        { runId: 'r3', parentRunId: 'r0', children: [{ runId: 'r5', children: [] }] },
        { runId: 'r4', children: [] },
      ],
    ])
    expect((await sessions.tree('s1')).items.map(({ runId }) => runId)).toEqual(['r0', 'r4'])
  })

  it('sessions.tree misses no run while others are added', async () => {
    const { post, sessions } = app()
    for (let n = 0; n < 20; n++) await post({ runId: `r${n}`, parentRunId: `r${(n * 7 + 3) % 20}` })
    let added = 0
    const pages = await allPages(
      (page) => sessions.tree('s1', { ...page, limit: 6 }),
      async () => added < 3 && (await post({ runId: `new-${added++}` })),
    )
    const ids = pages.flatMap(idsOf)
    expect(ids.toSorted()).toEqual(
      [...Array.from({ length: 20 }, (_, n) => `r${n}`), 'new-0', 'new-1', 'new-2'].toSorted(),
    )
  })

  it('sessions.tree checks its options', async () => {
    const { post, sessions } = app()
    for (const sessionId of ['s1', 's2'])
      for (const n of [0, 1]) await post({ runId: `${sessionId}-${n}` }, { sessionId })
    const { nextCursor = '' } = await sessions.tree('s1', { limit: 1 })
    expect((await sessions.tree('s1', { cursor: nextCursor })).items).toHaveLength(1)
    for (const cursor of [`${nextCursor}0`, (await sessions.timeline('s1', { limit: 1 })).nextCursor])
      expect(await optionProblems(() => sessions.tree('s1', { cursor: cursor as string }))).toHaveLength(1)
    expect(await optionProblems(() => sessions.tree('s2', { cursor: nextCursor }))).toHaveLength(1)
    expect(await optionProblems(() => sessions.tree('s1', { limit: 501, status: 'failed' } as never))).toMatchObject([
      { field: 'status' },
      { field: 'limit' },
    ])
    for (const id of [undefined, null, 5]) await optionProblems(() => sessions.tree(id as never))
  })

  it('sessions.tree is scoped to its tenant', async () => {
    const { post, sessions } = app()
    await post({ runId: 'r1' }, { token: 'other' })
    expect((await sessions.tree('s1')).items).toEqual([])
    expect((await sessions.tree('s1', { tenant: 'other' })).items).toHaveLength(1)
  })
})

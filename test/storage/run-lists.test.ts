import { describe, expect, it } from 'vitest'
import type { RunReport, RunStatus } from '../../src/model/run.ts'
import type { RunQuery, RunStore } from '../../src/ports/run-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { fakeClock } from '../support/fake-clock.ts'

interface Reported {
  readonly tenant?: string
  readonly sessionId?: string
  readonly status?: RunStatus
  readonly tags?: readonly string[]
  readonly pending?: boolean
}

async function put(store: RunStore, runId: string, reported: Reported = {}): Promise<void> {
  const { tenant = 't', sessionId = 's', status = 'running', tags = [], pending = false } = reported
  const state = { runId, sessionId, application: { ...EMPTY, status, tags } }
  const derived = { ended: [], pending: pending ? (['failed'] as const) : [] }
  await store.mergeRun({ tenant, sessionId, runId }, () => ({ result: undefined, state, derived }))
}

const EMPTY: RunReport = {
  seq: -1,
  earliest: {},
  counts: {},
  final: {},
  latest: {},
  metadata: {},
  tags: [],
}

async function list(store: RunStore, query: Partial<RunQuery>): Promise<{ ids: string[]; cursor: string | undefined }> {
  const { items, nextCursor } = await store.listRuns({ limit: 99, ...query })
  return { ids: items.map(({ state }) => state.runId), cursor: nextCursor }
}

describe('listRuns', () => {
  it('Paging through runs stays complete while runs are added, ended and removed', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    for (let at = 0; at < 12; at++) await put(store, `${at}`)
    const query = { status: ['running'], limit: 3 } as const
    const first = await list(store, query)
    expect(first.ids).toEqual(['0', '1', '2'])
    clock.advance(1)
    for (const ended of ['1', '2', '3']) await put(store, ended, { status: 'completed' })
    await store.removeRuns({ status: ['completed'], unchangedForMs: -1, limit: 2 })
    await put(store, 'new')
    const second = await list(store, { ...query, cursor: first.cursor })
    expect(second.ids).toEqual(['4', '5', '6'])
    await store.erase('t', { sessionId: 's' })
    expect(await list(store, { ...query, cursor: second.cursor })).toEqual({ ids: [], cursor: undefined })
  })

  it('A list of runs has no next page after the last run that matches', async () => {
    const store = memoryStore({ clock: fakeClock() })
    for (const id of ['1', '2']) await put(store, id, { tags: ['a'] })
    await put(store, '3')
    expect(await list(store, { limit: 3 })).toEqual({ ids: ['1', '2', '3'], cursor: undefined })
    expect(await list(store, { limit: 2, tag: 'a' })).toEqual({ ids: ['1', '2'], cursor: undefined })
    expect((await list(store, { limit: 1 })).cursor).toEqual(expect.any(String))
  })

  it.each(['oldest', 'newest'] as const)(
    'A page of runs ends early when few match, the %s first, and its cursor continues',
    async (first) => {
      const store = memoryStore({ clock: fakeClock() })
      await put(store, 'oldest', { tags: ['a'] })
      for (let at = 0; at < 3_000; at++) await put(store, `${at}`)
      await put(store, 'newest', { tags: ['a'] })
      const query = { tag: 'a', limit: 2, first } as const
      const page = await list(store, query)
      expect(page.ids).toEqual([first])
      const rest = await list(store, { ...query, cursor: page.cursor })
      expect(rest).toEqual({ ids: [first === 'oldest' ? 'newest' : 'oldest'], cursor: undefined })
    },
  )

  it('A list finds open runs and runs with pending events behind many others', async () => {
    const store = memoryStore({ clock: fakeClock() })
    for (let at = 0; at < 12_000; at++) await put(store, `${at}`, { status: 'completed', tenant: `t${at % 3}` })
    await put(store, 'open')
    await put(store, 'pending', { status: 'failed', pending: true })
    expect(await list(store, { status: ['running', 'waiting'], limit: 1 })).toEqual({
      ids: ['open'],
      cursor: undefined,
    })
    expect(await list(store, { pending: true, limit: 1 })).toEqual({ ids: ['pending'], cursor: undefined })
    expect(await list(store, { tenant: 't1', pending: true })).toEqual({ ids: [], cursor: undefined })
    expect(await list(store, { tenant: 'nobody', status: ['running'] })).toEqual({ ids: [], cursor: undefined })
  })

  it('An empty filter text and an empty list of statuses match no run', async () => {
    const store = memoryStore({ clock: fakeClock() })
    await put(store, 'r', { tags: ['a'] })
    for (const query of [{ provider: '' }, { model: '' }, { userId: '' }, { tag: '' }, { status: [] }])
      expect((await list(store, query)).ids).toEqual([])
  })

  it.each(['', 'x', '-1', '1.5', '999999999999999', '__proto__'])(
    'A list of runs tolerates the invalid cursor %j',
    async (cursor) => {
      const store = memoryStore({ clock: fakeClock() })
      await put(store, 'r')
      for (const first of ['oldest', 'newest'] as const)
        expect((await list(store, { cursor, first })).ids.length).toBeLessThanOrEqual(1)
    },
  )
})

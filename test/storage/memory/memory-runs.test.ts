import { describe, expect, it } from 'vitest'
import { mergeRun } from '../../../src/core/runs/merge/merge-run.ts'
import type { RunStatus, RunUpdate } from '../../../src/model/run.ts'
import { noSpend, noTotals } from '../../../src/model/totals.ts'
import type { RunStore, StoredRun } from '../../../src/ports/run-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { NOW, recorder, runOf, stillClock } from '../../core/runs/recorder.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const KEY = { tenant: 't', sessionId: 's1', runId: 'r1' }

async function put(store: RunStore, update: Partial<RunUpdate> = {}, tenant = 't'): Promise<StoredRun | undefined> {
  const full = { runId: 'r1', sessionId: 's1', ...update }
  const { run } = await store.mergeRun({ ...full, tenant }, ({ run }) => {
    const merge = mergeRun(run?.state, full)
    return merge.outcome === 'merged' && merge.changed ? { state: merge.state, result: merge } : { result: merge }
  })
  return run
}

describe('memoryStore', () => {
  it('Updates count revisions and set updatedAt of the run and its session', async () => {
    const clock = stillClock()
    const store = memoryStore({ clock })
    await put(store)
    clock.advance(10)
    await put(store)
    expect(await store.findRun({ tenant: 't', sessionId: 's1', runId: 'r1' })).toMatchObject({
      revision: 1,
      createdAt: NOW,
      updatedAt: NOW,
    })
    await put(store, { status: 'completed' })
    expect(await store.findRun({ tenant: 't', sessionId: 's1', runId: 'r1' })).toMatchObject({
      revision: 2,
      createdAt: NOW,
      updatedAt: NOW + 10,
    })
    expect(await store.findSession('t', 's1')).toMatchObject({
      tenant: 't',
      sessionId: 's1',
      createdAt: NOW,
      updatedAt: NOW + 10,
    })
  })

  it('Pages of a session are full and in order while runs change', async () => {
    const store = memoryStore({ clock: stillClock() })
    for (let n = 0; n < 10; n++) await put(store, { runId: `r${n}`, sessionId: n % 2 ? 'odd' : 'even' })
    const pages: string[][] = []
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await store.listRuns({ tenant: 't', sessionId: 'odd', limit: 2, ...(cursor && { cursor }) })
      pages.push(page.items.map(({ state }) => state.runId))
      await put(store, { runId: 'r1', sessionId: 'odd', tags: [`${pages.length}`] })
      cursor = page.nextCursor
      more = cursor !== undefined
    }
    expect(pages).toEqual([['r1', 'r3'], ['r5', 'r7'], ['r9']])
    expect((await store.listRuns({ tenant: 't', limit: 10 })).nextCursor).toBeUndefined()
    expect((await store.listRuns({ tenant: 't', limit: 9 })).items.map(({ state }) => state.runId)).toHaveLength(9)
  })

  it('None of a thousand concurrent posts of one run is lost', async () => {
    const { post } = recorder()
    const posts = Array.from({ length: 1000 }, (_, n) =>
      post({ runId: 'r1', seq: n, counts: { steps: n, [`c${n % 30}`]: n } }),
    )
    const statuses = (await Promise.all(posts)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    const run = runOf(await post({ runId: 'r1' }))
    expect(run).toMatchObject({ seq: 999, revision: 1000 })
    expect(run.counts).toMatchObject({ steps: 999, c29: 989, c0: 990 })
  })

  it('Spend counts for the current UTC day of the store', async () => {
    const clock = stillClock()
    const store = memoryStore({ clock })
    const today = Math.floor(NOW / DAY_MS)
    const add = { ...noSpend(), tokens: 1 }
    const spend = async (): Promise<void> => {
      const totalsChanges = { session: noTotals(), descendants: [], users: [{ userId: 'u', add }] }
      await store.mergeRun(KEY, ({ session }) => ({ result: session, totalsChanges }))
    }
    await put(store)
    clock.advance(DAY_MS - (NOW % DAY_MS) - 1)
    await spend()
    clock.advance(1)
    await spend()
    await spend()
    const tokens = async (sinceDay: number): Promise<number> => (await store.findSpend('t', 'u', sinceDay)).tokens
    expect([await tokens(today - 9), await tokens(today), await tokens(today + 1), await tokens(today + 2)]).toEqual([
      ...[3, 3, 2, 0],
    ])
  })

  it('Reads and merges touch no other runs, regardless of their number', async () => {
    const clock = stillClock()
    const store = memoryStore({ clock })
    let looks = 0
    const watched = <T extends object>(state: T): T =>
      new Proxy(state, {
        get(target, name) {
          looks += 1
          return Reflect.get(target, name)
        },
      })
    const keep = (runId: string, status: RunStatus, pending: readonly 'failed'[] = []): Promise<unknown> => {
      const merge = mergeRun(undefined, { runId, sessionId: KEY.sessionId, status })
      if (merge.outcome !== 'merged') throw new Error('not merged')
      const state = watched(merge.state)
      return store.mergeRun({ ...KEY, runId }, () => ({ result: runId, state, derived: { ended: [], pending } }))
    }
    for (let n = 0; n < 2_000; n++) await keep(`r${n}`, 'completed')
    await keep('open', 'running')
    await keep('pending', 'failed', ['failed'])
    await keep('reported', 'failed')
    clock.advance(1)
    const during = async (work: () => Promise<unknown>): Promise<number> => {
      looks = 0
      await work()
      return looks
    }
    expect(await during(() => put(store, { runId: 'new', status: 'completed' }))).toBe(0)
    expect(await during(() => store.findSession('t', 's1'))).toBe(0)
    const page = { tenant: 't', limit: 1 } as const
    const few = await during(() => store.listRuns(page))
    expect(few).toBeLessThan(100)
    const { nextCursor: cursor } = await store.listRuns({ ...page, limit: 1_000 })
    expect(await during(() => store.listRuns({ ...page, cursor }))).toBe(few)
    expect(await during(() => store.listRuns({ status: ['running'], silentForMs: 0, limit: 9 }))).toBeLessThan(few)
    expect(await during(() => store.listRuns({ pending: true, limit: 9 }))).toBeLessThan(few)
    const removed = await during(() => store.removeRuns({ status: ['failed'], unchangedForMs: 0, limit: 9 }))
    expect(removed).toBeLessThan(10)
    expect(await store.findRun({ tenant: 't', sessionId: 's1', runId: 'reported' })).toBeUndefined()
    expect(await store.findRun({ tenant: 't', sessionId: 's1', runId: 'pending' })).toBeDefined()
  })
})

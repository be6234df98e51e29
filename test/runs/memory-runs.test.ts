import { describe, expect, it } from 'vitest'
import { mergeRun } from '../../src/core/runs/merge-run.ts'
import type { RunUpdate } from '../../src/model/run.ts'
import type { RunStore, StoredRun } from '../../src/ports/run-store.ts'
import { memoryRuns } from '../../src/storage/memory-runs.ts'
import { NOW, recorder, runOf, stillClock } from './recorder.ts'

const KEY = { tenant: 't', sessionId: 's1', runId: 'r1' }

async function put(store: RunStore, update: Partial<RunUpdate> = {}, tenant = 't'): Promise<StoredRun | undefined> {
  const full = { runId: 'r1', sessionId: 's1', ...update }
  const { run } = await store.mergeRun({ ...full, tenant }, ({ current }) => {
    const merge = mergeRun(current, full)
    return merge.outcome === 'merged' && merge.changed ? { write: merge.state, result: merge } : { result: merge }
  })
  return run
}

describe('the runs of a memory store', () => {
  it('gives out nothing before anything was written', async () => {
    const store = memoryRuns(stillClock())
    expect(await store.findRun('t', 'r1')).toBeUndefined()
    expect(await store.findSession('t', 's1')).toBeUndefined()
    expect(await store.listRuns({ tenant: 't', limit: 5 })).toEqual({ items: [] })
    const sights: unknown[] = []
    expect(await store.mergeRun(KEY, (sight) => ({ result: sights.push(sight) }))).toEqual({ result: 1 })
    expect(sights).toEqual([{ current: undefined, sessionExists: false }])
    expect(await store.findSession('t', 's1')).toBeUndefined()
  })

  it('counts revisions and keeps the times of runs and their session', async () => {
    const clock = stillClock()
    const store = memoryRuns(clock)
    await put(store)
    clock.advance(10)
    await put(store)
    expect(await store.findRun('t', 'r1')).toMatchObject({ revision: 1, createdAt: NOW, updatedAt: NOW })
    await put(store, { status: 'completed' })
    expect(await store.findRun('t', 'r1')).toMatchObject({ revision: 2, createdAt: NOW, updatedAt: NOW + 10 })
    expect(await store.findSession('t', 's1')).toEqual({
      tenant: 't',
      sessionId: 's1',
      createdAt: NOW,
      updatedAt: NOW + 10,
    })
  })

  it('opens a session once', async () => {
    const clock = stillClock()
    const store = memoryRuns(clock)
    const opened = await store.openSession('t', 's1')
    clock.advance(5)
    expect(await store.openSession('t', 's1')).toEqual(opened)
    expect((await store.mergeRun(KEY, ({ sessionExists }) => ({ result: sessionExists }))).result).toBe(true)
    expect(
      (await store.mergeRun({ ...KEY, tenant: 'u' }, ({ sessionExists }) => ({ result: sessionExists }))).result,
    ).toBe(false)
  })

  it('keeps tenants apart', async () => {
    const store = memoryRuns(stillClock())
    await put(store, { model: 'a' }, 't')
    await put(store, { model: 'b' }, 'u')
    expect((await store.findRun('u', 'r1'))?.state.latest.model?.value).toBe('b')
    expect((await store.listRuns({ tenant: 't', limit: 9 })).items).toHaveLength(1)
  })

  it('lists oldest first, by session, page by page, while runs are added', async () => {
    const store = memoryRuns(stillClock())
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

  it('gives out nothing that changes what is stored', async () => {
    const store = memoryRuns(stillClock())
    const cost = { amount: '1', currency: 'EUR', source: 'client' } as const
    await put(store, { tags: ['a'], metadata: { k: 1 }, cost })
    const found = await store.findRun('t', 'r1')
    const [listed] = (await store.listRuns({ tenant: 't', limit: 1 })).items
    const session = await store.findSession('t', 's1')
    const before = structuredClone(found)
    for (const run of [found, listed]) {
      if (!run) throw new Error('no run')
      Object.assign(run.state.tags, ['changed'])
      Object.assign(run.state.counts, { steps: 9 })
      Object.assign(run.state.metadata.k ?? {}, { value: 'changed' })
      Object.assign(run.state.latest.cost?.value ?? {}, { amount: 'changed' })
      Object.assign(run.state, { seq: 99 })
      Object.assign(run, { revision: 99 })
    }
    Object.assign(session ?? {}, { createdAt: 0 })
    expect(await store.findRun('t', 'r1')).toEqual(before)
    expect((await store.findSession('t', 's1'))?.createdAt).toBe(NOW)
  })

  it('writes nothing when deciding throws, and rejects', async () => {
    const store = memoryRuns(stillClock())
    const broken = () => {
      throw new Error('no')
    }
    await expect(store.mergeRun(KEY, broken)).rejects.toThrow('no')
    expect(await store.findSession('t', 's1')).toBeUndefined()
  })

  it('loses none of a thousand posts that come at once', async () => {
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

  it('takes as long to merge beside 100,000 runs as beside none', async () => {
    const store = memoryRuns(stillClock())
    for (let n = 0; n < 100_000; n++) await put(store, { runId: `r${n}`, sessionId: `s${n % 100}` })
    const small = memoryRuns(stillClock())
    const time = async (of: RunStore, name: string) => {
      let best = Number.POSITIVE_INFINITY
      for (let round = 0; round < 5; round++) {
        const start = performance.now()
        for (let n = 0; n < 1000; n++) await put(of, { runId: `${name}${round}-${n}`, sessionId: 's1' })
        best = Math.min(best, performance.now() - start)
      }
      return best
    }
    const alone = await time(small, 'new')
    expect(await time(store, 'new')).toBeLessThan(alone * 5 + 20)
    const start = performance.now()
    const page = await store.listRuns({ tenant: 't', sessionId: 's7', limit: 10 })
    expect(performance.now() - start).toBeLessThan(50)
    expect(page.items.map(({ state }) => state.runId)).toEqual(Array.from({ length: 10 }, (_, n) => `r${n * 100 + 7}`))
  })
})

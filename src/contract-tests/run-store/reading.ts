import type { MergeSnapshot, RunKey, RunQuery, RunStore, StoredRun } from '../../ports/run-store.ts'
import { ok } from '../assertions.ts'

/** Far more pages than any list of a case has. */
const MAX_PAGES = 1_000

/** A copy of what a merge sees, which decides nothing. */
export async function see(store: RunStore, key: RunKey): Promise<MergeSnapshot> {
  const { result } = await store.mergeRun(key, (snapshot) => ({ result: structuredClone(snapshot) }))
  return result
}

/** All pages of a list, one after the other; none may be longer than it was asked to be. */
export async function readAll(
  store: RunStore,
  query: Partial<RunQuery> = {},
  betweenPages: (read: readonly StoredRun[]) => Promise<void> = async () => {},
): Promise<readonly StoredRun[]> {
  const limit = query.limit ?? 100
  const all: StoredRun[] = []
  let cursor = query.cursor
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, nextCursor } = await store.listRuns({ ...query, limit, cursor })
    ok(items.length <= limit, `a page of at most ${limit} runs has ${items.length}`)
    all.push(...items)
    if (nextCursor === undefined) return all
    cursor = nextCursor
    await betweenPages(items)
  }
  ok(false, `a list of few runs has no end after ${MAX_PAGES} pages`)
  return all
}

/** The ids of all runs of a list, in its order. */
export async function listIds(store: RunStore, query: Partial<RunQuery> = {}): Promise<readonly string[]> {
  return runIdsOf(await readAll(store, query))
}

export function runIdsOf(runs: readonly StoredRun[]): readonly string[] {
  return runs.map(({ state }) => state.runId)
}

/** Changes all there is to be changed of plain data. What is frozen stays what it is. */
export function spoilRuns(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    spoilRuns(member)
    Reflect.set(value, name, 'spoilt')
  }
  Reflect.set(value, Array.isArray(value) ? value.length : 'added', 'spoilt')
}

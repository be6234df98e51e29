import type { Page } from '../../src/ports/dispatch-query.ts'
import type { MergeDecision, MergeKey, MergeSnapshot, RunStore } from '../../src/ports/run-store.ts'

/** A plausible bug, planted in a correct store. */
export interface Bug {
  /** What the store does. */
  readonly it: string
  plant(store: RunStore): RunStore
  /** The cases of the contract that must catch it. */
  readonly caughtBy: readonly string[]
}

type Decide = <T>(decision: MergeDecision<T>, snapshot: MergeSnapshot) => MergeDecision<T>

/** Changes the decisions of merges. */
export function deciding(store: RunStore, decide: Decide): RunStore {
  return { ...store, mergeRun: (key, caller) => store.mergeRun(key, (snapshot) => decide(caller(snapshot), snapshot)) }
}

/** Changes the snapshots of merges. */
export function seeing(
  store: RunStore,
  show: (snapshot: MergeSnapshot, key: MergeKey) => Promise<MergeSnapshot> | MergeSnapshot,
): RunStore {
  return {
    ...store,
    async mergeRun(key, decide) {
      const { result } = await store.mergeRun(key, (snapshot) => ({ result: snapshot }))
      const shown = await show(result, key)
      return store.mergeRun(key, () => decide(shown))
    },
  }
}

interface Paged {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Reads a page whose cursor is an offset. */
export async function pageByOffset<Query extends Paged, Item>(
  { cursor, limit, ...query }: Query,
  list: (query: Omit<Query, keyof Paged> & Paged) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const { items } = await list({ ...query, limit: 1_000 })
  const from = Number(cursor ?? 0) || 0
  return {
    items: items.slice(from, from + limit),
    ...(from + limit < items.length && { nextCursor: `${from + limit}` }),
  }
}

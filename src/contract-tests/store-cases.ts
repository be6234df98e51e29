import type { Page } from '../ports/dispatch-query.ts'
import { ok } from './assertions.ts'
import { type CaseTable, type ContractCase, casesOf, type StoreCapabilities, type StoreTrial } from './contract.ts'

/** Cases of a store with these capabilities. Each runs on its own harness. */
export function storeCases<Store, Harness>(
  harnessOf: (trial: StoreTrial<Store>) => Harness,
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<Harness>,
): readonly ContractCase<StoreTrial<Store>>[] {
  return casesOf<Harness, StoreCapabilities>(needs, table).map(({ run, ...rest }) => ({
    ...rest,
    async run(trial) {
      const hasOther = !needs.includes('secondHandle') || trial.other !== undefined
      ok(hasOther, '`create` returned no `other`: return one, or set `secondHandle: false`')
      await run(harnessOf(trial))
    },
  }))
}

/** A trial over the same data, after all handles were closed. */
export async function reopened<Store>(trial: StoreTrial<Store>): Promise<StoreTrial<Store>> {
  const store = await trial.reopen?.()
  ok(store, '`create` returned no `reopen`: return one, or set `durable: false`')
  return { ...trial, store, other: store }
}

/** Ends a loop if a cursor leads back to an earlier page. No case has so many pages. */
const MAX_PAGES = 1_000

/** Reads a list page by page, and runs `between` between pages. */
export async function readPages<Item>(
  limit: number,
  read: (cursor: string | undefined, at: number) => Promise<Page<Item>>,
  between?: (items: readonly Item[]) => Promise<void>,
): Promise<readonly Item[]> {
  const all: Item[] = []
  let cursor: string | undefined
  for (let at = 0; at < MAX_PAGES; at++) {
    const { items, nextCursor } = await read(cursor, at)
    ok(items.length <= limit, `a page has at most ${limit} items, got ${items.length}`)
    all.push(...items)
    if (nextCursor === undefined) return all
    cursor = nextCursor
    await between?.(items)
  }
  throw new Error(`a list still has a next page after ${MAX_PAGES} pages`)
}

import { decideMerge } from '../../../src/core/runs/merge-update.ts'
import type { RunSource, RunUpdate } from '../../../src/model/run.ts'
import type { PriceBook } from '../../../src/ports/price-book.ts'
import type { RunStore, StoredRun } from '../../../src/ports/run-store.ts'
import { NOW } from './recorder.ts'

/** An update and who posts it. */
export interface Posted {
  readonly update: RunUpdate
  readonly source: RunSource
}

/**
 * Records what applications and agents post, in order, for a host that publishes every end. Returns all runs of their session `s1`.
 *
 * @param tenant Default: `t`.
 */
export async function recordPosts(
  store: RunStore,
  posts: readonly Posted[],
  prices?: PriceBook,
  tenant = 't',
): Promise<readonly StoredRun[]> {
  for (const posted of posts) await recordPost(store, posted, prices, tenant)
  return (await store.listRuns({ tenant, sessionId: 's1', limit: 1000 })).items
}

/** Records one post for a host that publishes every end. */
export async function recordPost(
  store: RunStore,
  { update, source }: Posted,
  prices: PriceBook | undefined,
  tenant: string,
): Promise<void> {
  const { sessionId, runId, parentRunId } = update
  const { result } = await store.mergeRun({ tenant, sessionId, runId, parentRunId }, (snapshot) =>
    decideMerge(snapshot, update, {
      tenant,
      now: NOW,
      prices,
      source,
      signals: ({ newEnd }) => (newEnd === undefined ? [] : [{ name: newEnd }]),
    }),
  )
  if (result.outcome !== 'merged') throw new Error(result.outcome)
}

/** Records updates of an application in order, and gives all runs of their session `s1` of tenant `t`. */
export async function record(
  store: RunStore,
  updates: readonly RunUpdate[],
  prices?: PriceBook,
): Promise<readonly StoredRun[]> {
  return recordPosts(
    store,
    updates.map((update) => ({ update, source: 'application' })),
    prices,
  )
}

import { decideMerge } from '../../../src/core/runs/merge-update.ts'
import type { RunUpdate } from '../../../src/model/run.ts'
import type { PriceBook } from '../../../src/ports/price-book.ts'
import type { RunStore, StoredRun } from '../../../src/ports/run-store.ts'
import { NOW } from './recorder.ts'

/** Records updates in order, and gives all runs of their session `s1` of tenant `t`. */
export async function record(
  store: RunStore,
  updates: readonly RunUpdate[],
  prices?: PriceBook,
): Promise<readonly StoredRun[]> {
  for (const update of updates) {
    const { sessionId, runId, parentRunId } = update
    const { result } = await store.mergeRun({ tenant: 't', sessionId, runId, parentRunId }, (snapshot) =>
      decideMerge(snapshot, update, { tenant: 't', now: NOW, prices }),
    )
    if (result.outcome !== 'merged') throw new Error(result.outcome)
  }
  return (await store.listRuns({ tenant: 't', sessionId: 's1', limit: 1000 })).items
}

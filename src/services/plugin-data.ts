import { viewDispatch } from '../core/dispatch/dispatch-view.ts'
import type { TimelineList } from '../core/runs/sessions/timeline.ts'
import type { Dispatch, DispatchView } from '../model/dispatch.ts'
import type { RecipientKey } from '../model/recipient-key.ts'
import type { Run } from '../model/run.ts'
import type { TimelineEntry } from '../model/session.ts'
import type { RunKey } from '../ports/run-store.ts'

/** `one`: a dispatch in full. `page`: a page of a list. `export`: all that is stored about a recipient. */
export type Shown = 'one' | 'page' | 'export'

/** Views and data of recipients of all plugins. */
export interface PluginData {
  /** Members of the views of deliveries, by delivery id. Absent: nothing is added. */
  view?(dispatches: readonly Dispatch[], shown: Shown): Promise<ReadonlyMap<string, object>>
  /** Members of the views of runs, in the order of the runs. Absent: nothing is added. */
  viewRuns?(runs: readonly RunKey[], shown: Shown): Promise<readonly object[]>
  /** Further lists of the timelines of sessions. */
  readonly timelines: readonly TimelineList[]
  /** True for a run that waits for something else than a post. Absent: none does. */
  isAwaited?(run: RunKey): Promise<boolean>
  eraseSession(of: Pick<RunKey, 'tenant' | 'sessionId'>): Promise<void>
  /** By the names of the plugins. */
  exportOf(of: RecipientKey): Promise<Readonly<Record<string, object>>>
  erase(of: RecipientKey): Promise<void>
  prune(olderThanMs: number, tenant: string | undefined): Promise<void>
}

/** Views of dispatches with what plugins add. Members of the core stay as they are. */
export async function viewDispatches(
  dispatches: readonly Dispatch[],
  shown: Shown,
  { view }: PluginData,
  now: number,
): Promise<readonly DispatchView[]> {
  const views = dispatches.map((dispatch) => viewDispatch(dispatch, now))
  const added = dispatches.length > 0 ? await view?.(dispatches, shown) : undefined
  if (!added || added.size === 0) return views
  return views.map((one) => ({
    ...one,
    deliveries: one.deliveries.map((delivery) => {
      const more = added.get(delivery.deliveryId)
      return more ? { ...delivery, ...more, ...delivery } : delivery
    }),
  }))
}

/** Views of runs of a tenant with what plugins add. Members of the core stay as they are. */
export async function viewRuns(
  tenant: string,
  runs: readonly Run[],
  shown: Shown,
  plugins: Pick<PluginData, 'viewRuns'>,
): Promise<readonly Run[]> {
  if (!plugins.viewRuns || runs.length === 0) return runs
  const keys = runs.map(({ sessionId, runId }) => ({ tenant, sessionId, runId }))
  const added = await plugins.viewRuns(keys, shown)
  return runs.map((run, at) => ({ ...run, ...added[at], ...run }))
}

/** Entries of a timeline, with what plugins add to its runs. */
export async function viewEntries(
  tenant: string,
  entries: readonly TimelineEntry[],
  plugins: Pick<PluginData, 'viewRuns'>,
): Promise<readonly TimelineEntry[]> {
  const runs = entries.flatMap((entry) => (entry.type === 'run' ? [entry.run] : []))
  const viewed = (await viewRuns(tenant, runs, 'page', plugins)).values()
  return entries.map((entry) => (entry.type === 'run' ? { ...entry, run: viewed.next().value ?? entry.run } : entry))
}

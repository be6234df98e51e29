import type { Dispatch } from '../../../model/dispatch.ts'
import { writeInstant } from '../../../model/instants.ts'
import type { TimelineEntry } from '../../../model/session.ts'
import type { Page } from '../../../ports/dispatch-query.ts'
import type { DispatchStore } from '../../../ports/dispatch-store.ts'
import type { RunStore, StoredRun } from '../../../ports/run-store.ts'
import { viewDispatch } from '../../dispatch/dispatch-view.ts'
import { viewRun } from '../merge/selectors.ts'

export interface TimelinePlace {
  readonly runs: TimelinePosition
  readonly dispatches: TimelinePosition
}

/** Position in one list: the cursor of a store page and its last shown item, because a timeline may stop within a page. */
export interface TimelinePosition {
  readonly cursor?: string | undefined
  readonly last?: { readonly id: string; readonly at: number }
}

export interface TimelinePart {
  readonly entries: readonly TimelineEntry[]
  readonly next?: TimelinePlace
}

interface Moment {
  readonly list: keyof TimelinePlace
  readonly id: string
  readonly at: number
  readonly cursor?: string | undefined
  readonly view: () => TimelineEntry
}

/** Page size for the store. Fixed, because a page that is read again must be the same one. */
const WINDOW = 100

/**
 * Reads runs and dispatches, oldest first. Each list keeps its store's order; both are merged by creation time, runs first. Items
 * that are added meanwhile come after all shown items.
 */
export async function readTimeline(
  of: { readonly tenant: string; readonly sessionId: string },
  from: TimelinePlace,
  limit: number,
  store: Pick<RunStore & DispatchStore, 'listRuns' | 'listDispatches'>,
  now: number,
): Promise<TimelinePart> {
  const { tenant, sessionId } = of
  const query = { tenant, sessionId, first: 'oldest', limit: WINDOW } as const
  const [runs, dispatches] = await Promise.all([
    readList(from.runs, limit, runMoment, (more) => store.listRuns({ ...query, ...more })),
    readList(from.dispatches, limit, dispatchMomentAt(now), (more) => store.listDispatches({ ...query, ...more })),
  ])
  const moments = mergeByTime(runs, dispatches)
  const shown = moments.slice(0, limit)
  const entries = shown.map(({ view }) => view())
  if (moments.length === shown.length) return { entries }
  return { entries, next: { runs: placeOf('runs', shown, from), dispatches: placeOf('dispatches', shown, from) } }
}

/** Newest runs and dispatches together, oldest first. Both lists must be oldest first. */
export function newestOf(
  runs: readonly StoredRun[],
  dispatches: readonly Dispatch[],
  limit: number,
  now: number,
): readonly TimelineEntry[] {
  const momentOf = dispatchMomentAt(now)
  const moments = mergeByTime(
    runs.map((run) => runMoment(run)),
    dispatches.map((dispatch) => momentOf(dispatch, undefined)),
  )
  return moments.slice(-limit).map(({ view }) => view())
}

/** Reads more than `limit` items of a list from a position, or all. */
async function readList<T>(
  { cursor: begin, last }: TimelinePosition,
  limit: number,
  momentOf: (item: T, cursor: string | undefined) => Moment,
  read: (more: { readonly cursor?: string }) => Promise<Page<T>>,
): Promise<readonly Moment[]> {
  const moments: Moment[] = []
  let cursor = begin
  do {
    const page = await read(cursor === undefined ? {} : { cursor })
    const found = page.items.map((item) => momentOf(item, cursor))
    moments.push(...(cursor === begin ? found.slice(countShown(found, last)) : found))
    cursor = page.nextCursor
  } while (cursor !== undefined && moments.length <= limit)
  return moments
}

/** Counts the shown items of a page. If the last shown item is removed, its time decides, so that no item is skipped. */
function countShown(moments: readonly Moment[], last: TimelinePosition['last']): number {
  if (last === undefined) return 0
  const index = moments.findIndex(({ id }) => id === last.id)
  if (index >= 0) return index + 1
  const next = moments.findIndex(({ at }) => at >= last.at)
  return next >= 0 ? next : moments.length
}

/** Merges two lists by time. Each list keeps its own order, even if a clock was set back. */
function mergeByTime(runs: readonly Moment[], dispatches: readonly Moment[]): readonly Moment[] {
  const merged: Moment[] = []
  let next = 0
  for (const run of runs) {
    for (let dispatch = dispatches[next]; dispatch && dispatch.at < run.at; dispatch = dispatches[++next])
      merged.push(dispatch)
    merged.push(run)
  }
  return [...merged, ...dispatches.slice(next)]
}

function placeOf(list: Moment['list'], shown: readonly Moment[], from: TimelinePlace): TimelinePosition {
  const last = shown.findLast((moment) => moment.list === list)
  return last ? { cursor: last.cursor, last: { id: last.id, at: last.at } } : from[list]
}

function runMoment(run: StoredRun, cursor?: string): Moment {
  const view = () => ({ type: 'run', at: writeInstant(run.createdAt), run: viewRun(run) }) as const
  return { list: 'runs', id: run.state.runId, at: run.createdAt, cursor, view }
}

function dispatchMomentAt(now: number): (dispatch: Dispatch, cursor: string | undefined) => Moment {
  return (dispatch, cursor) => {
    const view = () =>
      ({ type: 'dispatch', at: writeInstant(dispatch.createdAt), dispatch: viewDispatch(dispatch, now) }) as const
    return { list: 'dispatches', id: dispatch.dispatchId, at: dispatch.createdAt, cursor, view }
  }
}

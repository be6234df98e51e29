import type { Dispatch } from '../../../model/dispatch.ts'
import { writeInstant } from '../../../model/instants.ts'
import type { TimelineEntry } from '../../../model/session.ts'
import type { Page } from '../../../ports/dispatch-query.ts'
import type { DispatchStore } from '../../../ports/dispatch-store.ts'
import type { RunStore, StoredRun } from '../../../ports/run-store.ts'
import { viewDispatch } from '../../dispatch/dispatch-view.ts'
import { viewRun } from '../run-view.ts'

/** How far each of the two lists has been shown. */
export interface TimelinePlace {
  readonly runs: TimelinePosition
  readonly dispatches: TimelinePosition
}

/**
 * How far a list has been shown. A store's cursor tells where a page of its own ends, and a timeline may have to stop within
 * one: so this is the cursor that the page came by, and what was shown last of it.
 */
export interface TimelinePosition {
  readonly cursor?: string | undefined
  readonly last?: { readonly id: string; readonly at: number }
}

/** A part of a timeline. `next` is absent where it ends. */
export interface TimelinePart {
  readonly entries: readonly TimelineEntry[]
  readonly next?: TimelinePlace
}

interface Moment {
  readonly list: keyof TimelinePlace
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  /** The cursor that its page came by. */
  readonly cursor?: string | undefined
  readonly view: () => TimelineEntry
}

/** Asked of a store at once, however little is to be shown: a page that is asked for again must be the same one. */
const WINDOW = 100

/**
 * The runs and dispatches of a session from there on, oldest first: each in the order in which its store took it in, the two
 * merged by when they were created, a run before a dispatch of the same millisecond. What is added meanwhile comes after all
 * that was shown.
 */
export async function readTimeline(
  of: { readonly tenant: string; readonly sessionId: string },
  from: TimelinePlace,
  limit: number,
  store: Pick<RunStore & DispatchStore, 'listRuns' | 'listDispatches'>,
): Promise<TimelinePart> {
  const { tenant, sessionId } = of
  const query = { tenant, sessionId, first: 'oldest', limit: WINDOW } as const
  const [runs, dispatches] = await Promise.all([
    readList(from.runs, limit, runMoment, (more) => store.listRuns({ ...query, ...more })),
    readList(from.dispatches, limit, dispatchMoment, (more) => store.listDispatches({ ...query, ...more })),
  ])
  const moments = mergeByTime(runs, dispatches)
  const shown = moments.slice(0, limit)
  const entries = shown.map(({ view }) => view())
  if (moments.length === shown.length) return { entries }
  return { entries, next: { runs: placeOf('runs', shown, from), dispatches: placeOf('dispatches', shown, from) } }
}

/** The newest of runs and dispatches together, oldest first, as both are given. */
export function newestOf(
  runs: readonly StoredRun[],
  dispatches: readonly Dispatch[],
  limit: number,
): readonly TimelineEntry[] {
  const moments = mergeByTime(
    runs.map((run) => runMoment(run)),
    dispatches.map((dispatch) => dispatchMoment(dispatch)),
  )
  return moments.slice(-limit).map(({ view }) => view())
}

/** What a list has from there on: more than `limit`, or all. */
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

/** How many of a page had been shown. Where the last of them is gone, it is told by the time, so that nothing is left out. */
function countShown(moments: readonly Moment[], last: TimelinePosition['last']): number {
  if (last === undefined) return 0
  const index = moments.findIndex(({ id }) => id === last.id)
  if (index >= 0) return index + 1
  const next = moments.findIndex(({ at }) => at >= last.at)
  return next >= 0 ? next : moments.length
}

/** Neither list is put into another order: where a clock was set back, its own order holds. */
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

function dispatchMoment(dispatch: Dispatch, cursor?: string): Moment {
  const view = () =>
    ({ type: 'dispatch', at: writeInstant(dispatch.createdAt), dispatch: viewDispatch(dispatch) }) as const
  return { list: 'dispatches', id: dispatch.dispatchId, at: dispatch.createdAt, cursor, view }
}

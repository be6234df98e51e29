import type { Dispatch } from '../../../model/dispatch.ts'
import { writeInstant } from '../../../model/instants.ts'
import type { TimelineEntry } from '../../../model/session.ts'
import type { Page } from '../../../ports/dispatch-query.ts'
import type { DispatchStore } from '../../../ports/dispatch-store.ts'
import type { RunStore, StoredRun } from '../../../ports/run-store.ts'
import { viewDispatch } from '../../dispatch/dispatch-view.ts'
import { viewRun } from '../merge/selectors.ts'

/** A page of one session. */
export interface TimelineQuery {
  readonly tenant: string
  readonly sessionId: string
  readonly first: 'oldest' | 'newest'
  readonly limit: number
  readonly cursor?: string | undefined
}

/** An item of a timeline, and the time when it happened. */
export interface TimelineMoment {
  /** Unique within its list. */
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Called for moments that are shown. */
  view(): TimelineEntry
}

/** Reads one of the lists that a timeline joins, by the time of creation. */
export type TimelineList = (query: TimelineQuery) => Promise<Page<TimelineMoment>>

/** Position in each list, in the order of the lists. */
export type TimelinePlace = readonly TimelinePosition[]

/** Position in one list: the cursor of a store page and its last shown item, because a timeline may stop within a page. */
export interface TimelinePosition {
  readonly cursor?: string | undefined
  readonly last?: { readonly id: string; readonly at: number }
}

export interface TimelinePart {
  readonly entries: readonly TimelineEntry[]
  readonly next?: TimelinePlace
}

/** A moment, its list, and the cursor of its page. */
interface Placed {
  readonly list: number
  readonly cursor?: string | undefined
  readonly moment: TimelineMoment
}

/** Page size for the store. Fixed, because a page that is read again must be the same one. */
const WINDOW = 100

/**
 * Reads all lists, oldest first. Each keeps its own order; they are merged by creation time, at equal times in the order of the lists. Items
 * that are added meanwhile come after all shown items.
 */
export async function readTimeline(
  of: Pick<TimelineQuery, 'tenant' | 'sessionId'>,
  from: TimelinePlace,
  limit: number,
  lists: readonly TimelineList[],
): Promise<TimelinePart> {
  const found = await Promise.all(
    lists.map((read, list) =>
      readList(list, from[list] ?? {}, limit, (cursor) => read({ ...of, first: 'oldest', limit: WINDOW, cursor })),
    ),
  )
  const moments = mergeByTime(found)
  const shown = moments.slice(0, limit)
  const entries = shown.map(({ moment }) => moment.view())
  if (moments.length === shown.length) return { entries }
  return { entries, next: lists.map((_, list) => placeOf(list, shown, from)) }
}

/** The newest moments of all lists together, oldest first. Each list must be oldest first. */
export function newestOf(lists: readonly (readonly TimelineMoment[])[], limit: number): readonly TimelineEntry[] {
  const moments = mergeByTime(lists.map((moments, list) => moments.map((moment) => ({ list, moment }))))
  return moments.slice(-limit).map(({ moment }) => moment.view())
}

/** Reads more than `limit` items of a list from a position, or all. */
async function readList(
  list: number,
  { cursor: begin, last }: TimelinePosition,
  limit: number,
  read: (cursor: string | undefined) => Promise<Page<TimelineMoment>>,
): Promise<readonly Placed[]> {
  const all: Placed[] = []
  let cursor = begin
  do {
    const page = await read(cursor)
    const found = page.items.map((moment) => ({ list, cursor, moment }))
    all.push(...(cursor === begin ? found.slice(countShown(page.items, last)) : found))
    cursor = page.nextCursor
  } while (cursor !== undefined && all.length <= limit)
  return all
}

/** Counts the shown items of a page. If the last shown item is removed, its time decides, so that no item is skipped. */
function countShown(moments: readonly TimelineMoment[], last: TimelinePosition['last']): number {
  if (last === undefined) return 0
  const index = moments.findIndex(({ id }) => id === last.id)
  if (index >= 0) return index + 1
  const next = moments.findIndex(({ at }) => at >= last.at)
  return next >= 0 ? next : moments.length
}

/** Merges lists by time. Each keeps its own order, even if a clock was set back. */
function mergeByTime(lists: readonly (readonly Placed[])[]): readonly Placed[] {
  return lists.reduce((merged, list) => mergeTwo(merged, list), [])
}

function mergeTwo(before: readonly Placed[], after: readonly Placed[]): readonly Placed[] {
  const merged: Placed[] = []
  let next = 0
  for (const one of before) {
    for (let other = after[next]; other && other.moment.at < one.moment.at; other = after[++next]) merged.push(other)
    merged.push(one)
  }
  return [...merged, ...after.slice(next)]
}

function placeOf(list: number, shown: readonly Placed[], from: TimelinePlace): TimelinePosition {
  const last = shown.findLast((one) => one.list === list)
  return last ? { cursor: last.cursor, last: { id: last.moment.id, at: last.moment.at } } : (from[list] ?? {})
}

/** Runs of a session, for its timeline. */
export function runMoments(store: Pick<RunStore, 'listRuns'>): TimelineList {
  return async (query) => momentsOf(await store.listRuns(query), runMoment)
}

/** Dispatches of a session, for its timeline. */
export function dispatchMoments(store: Pick<DispatchStore, 'listDispatches'>, now: () => number): TimelineList {
  return async (query) => momentsOf(await store.listDispatches(query), (dispatch) => dispatchMoment(dispatch, now()))
}

function momentsOf<Item>(
  { items, nextCursor }: Page<Item>,
  momentOf: (item: Item) => TimelineMoment,
): Page<TimelineMoment> {
  return { items: items.map(momentOf), ...(nextCursor !== undefined && { nextCursor }) }
}

export function runMoment(run: StoredRun): TimelineMoment {
  const { createdAt: at, state } = run
  return { id: state.runId, at, view: () => ({ type: 'run', at: writeInstant(at), run: viewRun(run) }) }
}

function dispatchMoment(dispatch: Dispatch, now: number): TimelineMoment {
  const { createdAt: at, dispatchId: id } = dispatch
  return {
    ...{ id, at },
    view: () => ({ type: 'dispatch', at: writeInstant(at), dispatch: viewDispatch(dispatch, now) }),
  }
}

import { viewRun } from '../core/runs/merge/selectors.ts'
import { runTree } from '../core/runs/sessions/run-tree.ts'
import { viewSession } from '../core/runs/sessions/session-view.ts'
import {
  dispatchMoments,
  newestOf,
  readTimeline,
  runMoment,
  runMoments,
  type TimelinePlace,
  type TimelinePosition,
} from '../core/runs/sessions/timeline.ts'
import { SallyportError } from '../errors.ts'
import { isSessionId } from '../model/principal.ts'
import {
  NEWEST_ENTRIES,
  type RunNode,
  type Session,
  type SessionSummary,
  type TimelineEntry,
} from '../model/session.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type { DispatchStore } from '../ports/dispatch-store.ts'
import type { RunStore } from '../ports/run-store.ts'
import { instantOption, storedId, type TenantScope, tenantOf } from './call-checks.ts'
import { listQuery, type PageOptions, pageChecks, readCursor, viewPage, writeCursor } from './pagination.ts'
import { type PluginData, viewEntries } from './plugin-data.ts'

/** Filter of sessions: those that match all given options. */
export interface SessionListOptions extends PageOptions {
  /** Created at or after this instant; a number is epoch milliseconds. */
  readonly since?: Date | number | undefined
  /** Created before this instant; a number is epoch milliseconds. */
  readonly until?: Date | number | undefined
}

/** Sessions of a host. Every method throws errors of the store, and `option_invalid` for wrong options. */
export interface Sessions {
  /** Creates a session. Needed before its first run only with `sessions: 'must-exist'`. */
  open(sessionId: string, scope?: TenantScope): Promise<void>
  /**
   * Returns the totals of the session's runs and its newest entries, at a cost independent of its size. `undefined`: it was not
   * opened and has no run. Dispatches alone create no session, but {@link Sessions.timeline} includes them.
   */
  get(sessionId: string, scope?: TenantScope): Promise<Session | undefined>
  /** Newest first, by creation. */
  list(options?: SessionListOptions): Promise<Page<SessionSummary>>
  /** Lists all runs, oldest first. A run is nested in its parent when both are on one page. Empty for an unknown session. */
  tree(sessionId: string, options?: PageOptions): Promise<Page<RunNode>>
  /**
   * Lists all runs and dispatches, and what plugins add, oldest first, without repeated or missed entries. Each kind keeps its order.
   */
  timeline(sessionId: string, options?: PageOptions): Promise<Page<TimelineEntry>>
}

interface SessionsDeps {
  readonly store: RunStore
  readonly dispatches: Pick<DispatchStore, 'listDispatches'>
  readonly clock: Pick<Clock, 'now'>
  readonly plugins: Pick<PluginData, 'timelines' | 'viewRuns'>
}

const LIST = 'sessions'
const LIST_CHECKS: Checks<SessionListOptions> = { ...pageChecks(LIST), since: instantOption, until: instantOption }

export function sessionsOf({ store, dispatches: outbound, clock, plugins }: SessionsDeps): Sessions {
  const beside = [dispatchMoments(outbound, () => clock.now()), ...plugins.timelines]

  return {
    async open(sessionId, scope) {
      if (!isSessionId(sessionId)) {
        throw new SallyportError(
          'option_invalid',
          'sessions.open: a session id is 1-200 visible ASCII characters, and not . or ..',
        )
      }
      await store.openSession(tenantOf('sessions.open', scope), sessionId)
    },

    async get(sessionId, scope) {
      const tenant = tenantOf('sessions.get', scope)
      const session = await store.findSession(tenant, storedId('sessions.get', 'sessionId', sessionId))
      if (!session) return undefined
      // Before the next `await`: the store may add to these totals.
      const totals = viewSession(session)
      const query = { tenant, sessionId, first: 'newest', limit: NEWEST_ENTRIES } as const
      const [runs, ...others] = await Promise.all([store.listRuns(query), ...beside.map((list) => list(query))])
      const oldestFirst = runs.items.toReversed()
      const lists = [oldestFirst.map(runMoment), ...others.map(({ items }) => items.toReversed())]
      return {
        ...totals,
        tree: runTree(oldestFirst.map(viewRun)),
        timeline: await viewEntries(tenant, newestOf(lists, NEWEST_ENTRIES), plugins),
      }
    },

    async list(options = {}) {
      const query = listQuery(LIST, readOptions('sessions.list', options, LIST_CHECKS))
      return viewPage(LIST, await store.listSessions(query), viewSession)
    },

    async tree(sessionId, options = {}) {
      const list = `tree of ${storedId('sessions.tree', 'sessionId', sessionId)}`
      const query = listQuery(list, readOptions('sessions.tree', options, pageChecks(list)))
      const { items, nextCursor } = await store.listRuns({ ...query, sessionId })
      const tree = runTree(items.map(viewRun))
      return { items: tree, ...(nextCursor !== undefined && { nextCursor: writeCursor(list, [nextCursor]) }) }
    },

    async timeline(sessionId, options = {}) {
      const list = `timeline of ${storedId('sessions.timeline', 'sessionId', sessionId)}`
      const checked = readOptions('sessions.timeline', options, pageChecks(list))
      const { tenant, limit } = listQuery(list, checked)
      const from = readPlace(readCursor(list, checked.cursor))
      const { entries, next } = await readTimeline({ tenant, sessionId }, from, limit, [runMoments(store), ...beside])
      return {
        items: await viewEntries(tenant, entries, plugins),
        ...(next && { nextCursor: writeCursor(list, writePlace(next)) }),
      }
    },
  }
}

const PARTS_OF_LIST = 3

function writePlace(place: TimelinePlace): string[] {
  return place.flatMap(({ cursor = '', last }) => [cursor, last?.id ?? '', String(last?.at ?? '')])
}

function readPlace(parts: readonly string[] = []): TimelinePlace {
  const starts = parts.flatMap((_, at) => (at % PARTS_OF_LIST === 0 ? [at] : []))
  return starts.map((at) => readListPlace(parts.slice(at, at + PARTS_OF_LIST)))
}

function readListPlace([cursor, id, at]: readonly string[]): TimelinePosition {
  return { ...(cursor && { cursor }), ...(id && { last: { id, at: Number(at) } }) }
}

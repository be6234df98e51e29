import { isScope } from '../core/authenticate.ts'
import { viewRun } from '../core/runs/merge/selectors.ts'
import { runTree } from '../core/runs/sessions/run-tree.ts'
import { viewSession } from '../core/runs/sessions/session-view.ts'
import { newestOf, readTimeline, type TimelinePlace, type TimelinePosition } from '../core/runs/sessions/timeline.ts'
import { SallyportError } from '../errors.ts'
import type { RunNode, Session, TimelineEntry } from '../model/session.ts'
import { readOptions } from '../options/read-options.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type { DispatchStore } from '../ports/dispatch-store.ts'
import type { RunStore } from '../ports/run-store.ts'
import {
  listQuery,
  type PageOptions,
  pageChecks,
  readCursor,
  type TenantScope,
  tenantOf,
  writeCursor,
} from './pagination.ts'
import { storedId } from './stored-text.ts'

/** The sessions of a host. Each throws what the store throws, and `option_invalid` for options that are none. */
export interface Sessions {
  /** Makes a session exist: needed before its first run only with `sessions: 'must-exist'`. */
  open(sessionId: string, scope?: TenantScope): Promise<void>
  /**
   * The session, rolled up from its runs, with the newest of what happened in it: costs the same however much that is.
   *
   * `undefined`: it was not opened, and no run was recorded in it. Dispatches alone make no session: {@link Sessions.timeline}
   * shows them all the same.
   */
  get(sessionId: string, scope?: TenantScope): Promise<Session | undefined>
  /**
   * All its runs, each below the one that started it where that is on the same page: pages of so many runs, whatever their
   * depth, oldest first. Empty where there is no such session.
   */
  tree(sessionId: string, options?: PageOptions): Promise<Page<RunNode>>
  /**
   * All its runs and dispatches, oldest first, page by page: nothing is shown twice or left out while more is added. Where the
   * clocks of two hosts differ, runs keep their own order, and dispatches theirs.
   */
  timeline(sessionId: string, options?: PageOptions): Promise<Page<TimelineEntry>>
}

interface SessionsDeps {
  readonly store: RunStore
  /** Where dispatches are listed. */
  readonly dispatches: Pick<DispatchStore, 'listDispatches'>
}

/** What {@link Sessions.get} shows at most of runs, and of runs and dispatches together. */
const NEWEST = 100

export function sessionsOf({ store, dispatches: outbound }: SessionsDeps): Sessions {
  return {
    async open(sessionId, scope) {
      if (!isScope(sessionId)) {
        throw new SallyportError('option_invalid', 'sessions.open: a session id is 1-200 visible ASCII characters.')
      }
      await store.openSession(tenantOf('sessions.open', scope), sessionId)
    },

    async get(sessionId, scope) {
      const tenant = tenantOf('sessions.get', scope)
      const session = await store.findSession(tenant, storedId('sessions.get', 'sessionId', sessionId))
      if (!session) return undefined
      // Its tally goes on being added to.
      const totals = viewSession(session)
      const query = { tenant, sessionId, first: 'newest', limit: NEWEST } as const
      const [runs, dispatches] = await Promise.all([store.listRuns(query), outbound.listDispatches(query)])
      const oldestFirst = runs.items.toReversed()
      return {
        ...totals,
        tree: runTree(oldestFirst.map(viewRun)),
        timeline: newestOf(oldestFirst, dispatches.items.toReversed(), NEWEST),
      }
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
      const { entries, next } = await readTimeline({ tenant, sessionId }, from, limit, {
        listRuns: (query) => store.listRuns(query),
        listDispatches: (query) => outbound.listDispatches(query),
      })
      return { items: entries, ...(next && { nextCursor: writeCursor(list, writePlace(next)) }) }
    },
  }
}

function writePlace({ runs, dispatches }: TimelinePlace): string[] {
  return [runs, dispatches].flatMap(({ cursor = '', last }) => [cursor, last?.id ?? '', String(last?.at ?? '')])
}

function readPlace(parts: readonly string[] = []): TimelinePlace {
  return { runs: readListPlace(parts.slice(0, 3)), dispatches: readListPlace(parts.slice(3)) }
}

function readListPlace([cursor, id, at]: readonly string[]): TimelinePosition {
  return { ...(cursor && { cursor }), ...(id && { last: { id, at: Number(at) } }) }
}

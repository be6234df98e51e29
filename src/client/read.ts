/**
 * A client of the read API over `fetch`, for support tools and scripts.
 * @module sallyport/client/read
 */

import type { ApprovalView } from '../model/approval.ts'
import type { BudgetReport } from '../model/budget.ts'
import type { DispatchStatus, DispatchView } from '../model/dispatch.ts'
import type { CancelResult, RetryResult } from '../model/dispatch-results.ts'
import type { EventView } from '../model/event-view.ts'
import type { RecipientProfile } from '../model/recipient-profile.ts'
import type { Run } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import type { Session, SessionSummary, TimelineEntry } from '../model/session.ts'
import type { Statistics } from '../model/statistics.ts'
import type { SuppressionReason, SuppressionView } from '../model/suppression.ts'
import type { TokenUseView } from '../model/token-use.ts'
import type { UnsentReason } from '../model/unsent-reason.ts'
import { type CallOptions, type ClientOptions, callerOf, posterOf, SIGNAL_CHECKS } from './caller.ts'
import { checkOptions } from './check-options.ts'

export type { RunFilter } from '../model/run-filter.ts'
export type { CallOptions, ClientOptions, FetchLike } from './caller.ts'
export { ClientError, isClientError } from './client-error.ts'

/** One page of a list. The last has no `next`. A page may have fewer items than its limit, even none. */
export interface ReadPage<T> {
  readonly items: readonly T[]
  /** The `cursor` of the next page. */
  readonly next?: string
}

/** Page of a list to read. */
export interface PageFilter extends CallOptions {
  /** 1 to 200. Default: 50. */
  readonly limit?: number | undefined
  /** `next` of the previous page of the same list, unchanged. */
  readonly cursor?: string | undefined
}

/** Page of a list to read, and its time. */
export interface RangeFilter extends PageFilter {
  /** Created at or after this instant: RFC 3339, epoch milliseconds or a date. */
  readonly since?: string | number | Date | undefined
  /** Created before this instant. */
  readonly until?: string | number | Date | undefined
}

/** Dispatches that match all given options. */
export interface DispatchFilter extends RangeFilter {
  readonly status?: DispatchStatus | undefined
  readonly eventType?: string | undefined
  /** Exactly as in the request. */
  readonly recipient?: string | undefined
  /** Has a delivery of this channel. */
  readonly channel?: string | undefined
  /** Has a delivery with this reason, of the same channel if one is given; `expired`: with this status. */
  readonly reason?: UnsentReason | undefined
  readonly sessionId?: string | undefined
}

/** Page of runs to read. */
export interface RunPageFilter extends RangeFilter, RunFilter {
  /** Order by creation. Default: `newest`. */
  readonly first?: 'oldest' | 'newest' | undefined
}

/** Approvals that match all given options, newest first. */
export interface ApprovalFilter extends PageFilter {
  readonly sessionId?: string | undefined
  /** Default: all. */
  readonly status?: 'open' | 'ended' | undefined
  /** `true`: with message, action and schema. Default: `false`. */
  readonly content?: boolean | undefined
}

/** An address, or its key in a suppression, and perhaps its channel. */
export type OfAddress = ({ readonly address: string } | { readonly addressKey: string }) & {
  /** Default: all channels. */
  readonly channel?: string | undefined
}

/** An address not to send to. */
export interface AddSuppression {
  readonly address: string
  readonly channel: string
  /** Default: `manual`. */
  readonly reason?: SuppressionReason | undefined
  /** Suppresses only events of this category. Default: all events. */
  readonly category?: string | undefined
  /** Milliseconds until it expires, up to 20 years. Default: never. */
  readonly expiresInMs?: number | undefined
}

/** Window and step of statistics. */
export interface StatisticsFilter extends CallOptions {
  /** Such as `6h`: a multiple of `step`, at most 1,500 steps. Up to `2d` with steps of minutes, up to `90d` with hours. Default: `1h`. */
  readonly window?: string | undefined
  /** Such as `15m`: whole minutes, up to one day. Default: `1m`. */
  readonly step?: string | undefined
}

/**
 * Calls the read API of a Sallyport server with an application secret that allows `read`, and `manage` for changes. Methods reject with
 * a {@link ClientError}: the server refuses wrong options, and an unknown id with `not_found` or `session_not_found`.
 */
export interface ReadClient {
  readonly dispatches: {
    list(options?: DispatchFilter): Promise<ReadPage<DispatchView>>
    /** @param options `content: true` adds the rendered content and the masked address of each delivery. */
    get(dispatchId: string, options?: CallOptions & { readonly content?: boolean }): Promise<DispatchView>
    cancel(dispatchId: string, options?: CallOptions): Promise<CancelResult>
    /** @param options `channel`: only deliveries of this channel. */
    retry(dispatchId: string, options?: CallOptions & { readonly channel?: string }): Promise<RetryResult>
  }
  readonly recipients: {
    /** @param of As in dispatches. */
    find(of: { readonly recipient: string }, options?: CallOptions): Promise<RecipientProfile>
  }
  readonly suppressions: {
    list(
      options?: PageFilter & { readonly channel?: string; readonly reason?: SuppressionReason },
    ): Promise<ReadPage<SuppressionView>>
    find(of: OfAddress, options?: CallOptions): Promise<{ readonly items: readonly SuppressionView[] }>
    add(suppression: AddSuppression, options?: CallOptions): Promise<{ readonly added: boolean }>
    remove(of: OfAddress, options?: CallOptions): Promise<{ readonly removed: number }>
  }
  readonly sessions: {
    list(options?: RangeFilter): Promise<ReadPage<SessionSummary>>
    get(sessionId: string, options?: CallOptions): Promise<Session>
    timeline(sessionId: string, options?: PageFilter): Promise<ReadPage<TimelineEntry>>
  }
  readonly runs: {
    list(options?: RunPageFilter): Promise<ReadPage<Run>>
    get(of: { readonly sessionId: string; readonly runId: string }, options?: CallOptions): Promise<Run>
  }
  readonly approvals: {
    list(options?: ApprovalFilter): Promise<ReadPage<ApprovalView>>
  }
  readonly tokens: {
    uses(
      options?: PageFilter & {
        readonly jti?: string
        readonly sessionId?: string
        readonly outcome?: 'accepted' | 'refused'
      },
    ): Promise<ReadPage<TokenUseView>>
  }
  events(options?: CallOptions): Promise<{ readonly items: readonly EventView[] }>
  budgets(of: { readonly sessionId?: string; readonly userId?: string }, options?: CallOptions): Promise<BudgetReport>
  stats(options?: StatisticsFilter): Promise<Statistics>
}

/**
 * Creates a client of the read API. Retries like `createClient`.
 * @throws {ClientError} `option_invalid`, with all problems of the options.
 */
export function createReadClient(options: ClientOptions): ReadClient {
  const call = callerOf('createReadClient', options)
  const read = async <Answer>(path: string, options: CallOptions = {}, member = 'items'): Promise<Answer> => {
    const { signal, ...query } = options
    checkOptions(path, { signal }, SIGNAL_CHECKS)
    return call({ path: path + queryOf(query), member }, { signal })
  }
  const post = posterOf(call)
  const dispatch = (dispatchId: string): string => `${DISPATCHES}/${encodeURIComponent(dispatchId)}`
  const session = (sessionId: string): string => `${SESSIONS}/${encodeURIComponent(sessionId)}`
  return {
    dispatches: {
      list: (query) => read(DISPATCHES, query),
      get: (dispatchId, query) => read(dispatch(dispatchId), query, 'dispatchId'),
      cancel: (dispatchId, own) => post(`${dispatch(dispatchId)}/cancel`, {}, 'cancelled', own),
      retry: (dispatchId, { channel, ...own } = {}) =>
        post(`${dispatch(dispatchId)}/retry`, { channel }, 'retried', own),
    },
    recipients: { find: (of, own) => post('outbound/recipients/find', of, 'addresses', own) },
    suppressions: {
      list: (query) => read(SUPPRESSIONS, query),
      find: (of, own) => post(`${SUPPRESSIONS}/find`, of, 'items', own),
      add: (suppression, own) => post(`${SUPPRESSIONS}/add`, suppression, 'added', own),
      remove: (of, own) => post(`${SUPPRESSIONS}/remove`, of, 'removed', own),
    },
    sessions: {
      list: (query) => read(SESSIONS, query),
      get: (sessionId, own) => read(session(sessionId), own, 'sessionId'),
      timeline: (sessionId, query) => read(`${session(sessionId)}/timeline`, query),
    },
    runs: {
      list: (query) => read('agents/runs', query),
      get: ({ sessionId, runId }, own) => read(`${session(sessionId)}/runs/${encodeURIComponent(runId)}`, own, 'runId'),
    },
    approvals: { list: (query) => read('agents/approvals', query) },
    tokens: { uses: (query) => read('agents/tokens/uses', query) },
    events: (own) => read('outbound/events', own),
    budgets: (of, own) => read('agents/budgets', { ...own, ...of }, 'budgets'),
    stats: (query) => read('outbound/stats', query, 'buckets'),
  }
}

const DISPATCHES = 'outbound/dispatches'
const SUPPRESSIONS = 'outbound/suppressions'
const SESSIONS = 'agents/sessions'

function queryOf(parameters: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : String(value))
  const text = query.toString()
  return text && `?${text}`
}

import { forHostCall } from '../core/answers/report-fault.ts'
import { viewContent, viewDispatch } from '../core/dispatch/dispatch-view.ts'
import { type RetryDeps, retryDispatch } from '../core/dispatch/retry-dispatch.ts'
import type { Dispatch, DispatchStatus, DispatchView } from '../model/dispatch.ts'
import type { CancelResult, RetryResult } from '../model/dispatch-results.ts'
import { UNSENT_REASONS, type UnsentReason } from '../model/unsent-reason.ts'
import { bool, oneOf } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type { SallyportStore } from '../ports/sallyport-store.ts'
import { age, instantOption, storedId, storedText, type TenantScope, tenant, tenantOf } from './call-checks.ts'
import { type ListOptions, listQuery, MAX_PAGE, pageChecks, pruneAll, viewPage } from './pagination.ts'
import { type PluginData, viewDispatches } from './plugin-data.ts'
import { type RecipientData, recipientData } from './recipient-data.ts'

/** Filter of dispatches: those that match all given options. */
export interface DispatchListOptions extends ListOptions {
  readonly eventType?: string
  /** Exactly as in the request. */
  readonly recipient?: string
  /** `failed` and `partial` have deliveries that ended without success. */
  readonly status?: DispatchStatus
  /** Has a delivery of this channel. */
  readonly channel?: string
  /** Has a delivery with this reason, of the same channel if one is given; `expired`: with this status. */
  readonly reason?: UnsentReason
  /** Accepted at or after this instant; a number is epoch milliseconds. */
  readonly since?: Date | number
  /** Accepted before this instant; a number is epoch milliseconds. */
  readonly until?: Date | number
}

/** Options of {@link Dispatches.get}. */
export interface DispatchGetOptions extends TenantScope {
  /** `true`: deliveries show their `address`, masked, and their `content`. Links in it are placeholders. Default: `false`. */
  readonly content?: boolean | undefined
}

/** Filter of deliveries to retry. */
export interface RetryOptions extends TenantScope {
  /** Default: all that failed or expired. */
  readonly channel?: string
}

/**
 * Dispatches of a host. Every method throws errors of the store; `undefined` means that the tenant has no such dispatch. An id or
 * filter that no store can hold (empty, over 2,048 characters, NUL, unpaired surrogate) throws a `SallyportError`,
 * `option_invalid`.
 */
export interface Dispatches extends RecipientData {
  get(dispatchId: string, options?: DispatchGetOptions): Promise<DispatchView | undefined>
  /**
   * Newest first.
   *
   * @throws {SallyportError} `option_invalid`, such as for an unknown `status`.
   */
  list(options?: DispatchListOptions): Promise<Page<DispatchView>>
  /**
   * Stops `queued` and `held` deliveries. One that is being sent is not in `cancelled`, but is not retried. From a digest it
   * removes only this event; a rendered digest is stopped when all its dispatches are cancelled.
   */
  cancel(dispatchId: string, scope?: TenantScope): Promise<CancelResult | undefined>
  /**
   * Retries `failed` and `expired` deliveries at once, with a new schedule. A delivery that failed with `template_error` or
   * `condition_error` is first planned again, as if its event were dispatched now, and may then end as `skipped`. A delivery that
   * failed with `channel_error` before its first attempt is not retried. With the route `first`, retries only if nothing of the
   * dispatch was sent or may still be.
   */
  retry(dispatchId: string, options?: RetryOptions): Promise<RetryResult | undefined>
  /**
   * Removes old dispatches with their deliveries, except those that may still be sent. Also removes expired idempotency keys
   * (`idempotencyTtlMs`) of all tenants, and what plugins keep as long, such as feedback.
   *
   * @throws {SallyportError} `option_invalid`, for wrong options.
   */
  prune(options: DispatchPruneOptions): Promise<{ readonly pruned: number }>
}

/** Filter of dispatches to remove. */
export interface DispatchPruneOptions {
  /** Milliseconds since acceptance, up to 20 years. */
  readonly olderThan: number
  /** Default: every tenant. */
  readonly tenant?: string | undefined
}

interface DispatchesDeps extends RetryDeps {
  readonly store: SallyportStore
  readonly plugins: PluginData
  readonly expiresInMs: number
  readonly clock: Clock
}

const LIST = 'dispatches'

const STATUSES = ['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled'] satisfies DispatchStatus[]

const LIST_CHECKS: Checks<DispatchListOptions> = {
  ...pageChecks(LIST),
  sessionId: storedText,
  eventType: storedText,
  recipient: storedText,
  status: oneOf(STATUSES),
  channel: storedText,
  reason: oneOf(UNSENT_REASONS),
  since: instantOption,
  until: instantOption,
}
const GET_CHECKS: Checks<DispatchGetOptions> = { tenant, content: bool }
const RETRY_CHECKS: Checks<RetryOptions> = { tenant, channel: storedText }
const PRUNE_CHECKS: Checks<DispatchPruneOptions> = { olderThan: required(age), tenant }

function idOf(call: string, dispatchId: unknown): string {
  return storedId(`dispatches.${call}`, 'dispatchId', dispatchId)
}

export function createDispatches(deps: DispatchesDeps): Dispatches {
  const { store, expiresInMs, sandbox = false, clock, plugins } = deps
  const viewNow = (dispatch: Dispatch): DispatchView => viewDispatch(dispatch, clock.now())
  return {
    async get(dispatchId, options = {}) {
      const { tenant = 'default', content = false } = readOptions('dispatches.get', options, GET_CHECKS)
      const found = await store.findDispatch(tenant, idOf('get', dispatchId))
      if (!found) return undefined
      const [shown] = await viewDispatches([found], 'one', plugins, clock.now())
      return shown && content ? viewContent(shown, found) : shown
    },
    async list(options = {}) {
      const query = listQuery(LIST, readOptions('dispatches.list', options, LIST_CHECKS))
      const page = await store.listDispatches(query)
      return viewPage(
        LIST,
        { ...page, items: await viewDispatches(page.items, 'page', plugins, clock.now()) },
        (item) => item,
      )
    },
    async cancel(dispatchId, scope) {
      const change = await store.cancel(tenantOf('dispatches.cancel', scope), idOf('cancel', dispatchId))
      return change && { cancelled: change.changed, dispatch: viewNow(change.dispatch) }
    },
    async retry(dispatchId, given = {}) {
      idOf('retry', dispatchId)
      const { channel, tenant = 'default' } = readOptions('dispatches.retry', given, RETRY_CHECKS)
      if (sandbox) {
        const found = await store.findDispatch(tenant, dispatchId)
        return found && { retried: [], unplanned: [], dispatch: viewNow(found) }
      }
      const options = { expiresInMs, ...(channel !== undefined && { channel }) }
      const done = await retryDispatch(tenant, dispatchId, options, forHostCall(deps))
      if (!done) return undefined
      const retried = done.changed.filter(({ status }) => status === 'queued' || status === 'held')
      return { retried, unplanned: done.unplanned, dispatch: viewNow(done.dispatch) }
    },
    async prune(options) {
      const { olderThan, tenant } = readOptions('dispatches.prune', options, PRUNE_CHECKS)
      const removal = { tenant, acceptedForMs: olderThan, limit: MAX_PAGE }
      const pruned = await pruneAll(() => store.removeDispatches(removal), removal.limit, clock)
      await pruneAll(async () => (await store.forgetExpired?.(MAX_PAGE)) ?? 0, MAX_PAGE, clock)
      await plugins.prune(olderThan, tenant)
      return { pruned }
    },
    ...recipientData(deps),
  }
}

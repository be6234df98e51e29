import { forHostCall } from '../core/answers/report-fault.ts'
import { viewDispatch } from '../core/dispatch/dispatch-view.ts'
import { type UnplannedDelivery, type RetryDeps, retryDispatch } from '../core/dispatch/retry-dispatch.ts'
import type { DispatchStatus, DispatchView } from '../model/dispatch.ts'
import { oneOf } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type { DeliveryChange } from '../ports/dispatch-store.ts'
import { age, instantOption, tenant } from './call-checks.ts'
import {
  type ListOptions,
  listQuery,
  MAX_PAGE,
  pageChecks,
  type TenantScope,
  tenantOf,
  viewPage,
} from './pagination.ts'
import { pruneAll } from './prune-all.ts'
import { storedId, storedText } from './stored-text.ts'

/** Which dispatches to read: those that fit all that is said. */
export interface DispatchListOptions extends ListOptions {
  readonly eventType?: string
  /** As it was sent. */
  readonly recipient?: string
  /** `failed` and `partial` are where deliveries ended that nothing more is tried for. */
  readonly status?: DispatchStatus
  /** Accepted then or later; a number is epoch milliseconds. */
  readonly since?: Date | number
  /** Accepted before then; a number is epoch milliseconds. */
  readonly until?: Date | number
}

/** What {@link Dispatches.cancel} did. */
export interface CancelResult {
  /** What it stopped: exactly these will not be sent. Empty: nothing was left to stop. */
  readonly cancelled: readonly DeliveryChange[]
  readonly dispatch: DispatchView
}

/** What {@link Dispatches.retry} did. */
export interface RetryResult {
  /** What is tried again: `queued`, or `held` behind it with the route `first`. Empty in sandbox mode. */
  readonly retried: readonly DeliveryChange[]
  /** What failed in the host's own code and cannot be planned again yet, with the reason. It is unchanged: a later retry may do. */
  readonly unplanned: readonly UnplannedDelivery[]
  readonly dispatch: DispatchView
}

/** Which deliveries to try again. */
export interface RetryOptions extends TenantScope {
  /** Default: all that failed or expired. */
  readonly channel?: string
}

/**
 * The dispatches of a host. Each throws what the store throws; `undefined`: there is no such dispatch in that tenant. An id or a filter
 * that no store can hold (empty, over 2,048 characters, a NUL, half of a surrogate pair) is a `SallyportError`, `option_invalid`.
 */
export interface Dispatches {
  get(dispatchId: string, scope?: TenantScope): Promise<DispatchView | undefined>
  /**
   * Newest first.
   *
   * @throws {SallyportError} `option_invalid`, for options that are none, such as a `status` that there is not: all that is
   * wrong at once.
   */
  list(options?: DispatchListOptions): Promise<Page<DispatchView>>
  /**
   * Stops what has not been sent: `queued` and `held` deliveries. One that is being sent is not among `cancelled`; it is not
   * tried again. Of a digest only this event is taken out; one that is rendered is stopped once all its dispatches are.
   */
  cancel(dispatchId: string, scope?: TenantScope): Promise<CancelResult | undefined>
  /**
   * Tries `failed` and `expired` deliveries again, at once and with a schedule that begins anew. What failed with `template_error` or
   * `condition_error` is planned again first, as if its event were dispatched now: its data is validated, its recipient resolved,
   * its conditions and the policy are asked, and it is rendered, so that it may also end as `skipped`. What failed with
   * `channel_error` before its first attempt is left. With the route `first`, only when nothing of the dispatch was sent or may yet be.
   */
  retry(dispatchId: string, options?: RetryOptions): Promise<RetryResult | undefined>
  /**
   * Removes dispatches that were accepted so long ago, with their deliveries. One of which something may yet be sent is spared.
   * Also frees the space of idempotency keys whose time is over (`idempotencyTtlMs`), of whatever tenant; younger ones stay.
   *
   * @throws {SallyportError} `option_invalid`, for options that are none.
   */
  prune(options: DispatchPruneOptions): Promise<{ readonly pruned: number }>
}

/** Which dispatches are removed. */
export interface DispatchPruneOptions {
  /** Milliseconds since a dispatch was accepted, up to 20 years. */
  readonly olderThan: number
  /** Default: every tenant. */
  readonly tenant?: string | undefined
}

interface DispatchesDeps extends RetryDeps {
  readonly expiresInMs: number
  readonly clock: Clock
}

/** The name of the list, in its cursors. */
const LIST = 'dispatches'

const STATUSES = ['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled'] satisfies DispatchStatus[]

const LIST_CHECKS: Checks<DispatchListOptions> = {
  ...pageChecks(LIST),
  sessionId: storedText,
  eventType: storedText,
  recipient: storedText,
  status: oneOf(STATUSES),
  since: instantOption,
  until: instantOption,
}
const RETRY_CHECKS: Checks<RetryOptions> = { tenant, channel: storedText }
const PRUNE_CHECKS: Checks<DispatchPruneOptions> = { olderThan: required(age), tenant }

function idOf(call: string, dispatchId: unknown): string {
  return storedId(`dispatches.${call}`, 'dispatchId', dispatchId)
}

export function createDispatches(deps: DispatchesDeps): Dispatches {
  const { store, expiresInMs, sandbox = false, clock } = deps
  return {
    async get(dispatchId, scope) {
      const found = await store.findDispatch(tenantOf('dispatches.get', scope), idOf('get', dispatchId))
      return found && viewDispatch(found)
    },
    async list(options = {}) {
      const query = listQuery(LIST, readOptions('dispatches.list', options, LIST_CHECKS))
      return viewPage(LIST, await store.listDispatches(query), viewDispatch)
    },
    async cancel(dispatchId, scope) {
      const change = await store.cancel(tenantOf('dispatches.cancel', scope), idOf('cancel', dispatchId))
      return change && { cancelled: change.changed, dispatch: viewDispatch(change.dispatch) }
    },
    async retry(dispatchId, given = {}) {
      idOf('retry', dispatchId)
      const { channel, tenant = 'default' } = readOptions('dispatches.retry', given, RETRY_CHECKS)
      if (sandbox) {
        const found = await store.findDispatch(tenant, dispatchId)
        return found && { retried: [], unplanned: [], dispatch: viewDispatch(found) }
      }
      const options = { expiresInMs, ...(channel !== undefined && { channel }) }
      const done = await retryDispatch(tenant, dispatchId, options, forHostCall(deps))
      if (!done) return undefined
      const retried = done.changed.filter(({ status }) => status === 'queued' || status === 'held')
      return { retried, unplanned: done.unplanned, dispatch: viewDispatch(done.dispatch) }
    },
    async prune(options) {
      const { olderThan, tenant } = readOptions('dispatches.prune', options, PRUNE_CHECKS)
      const removal = { tenant, acceptedForMs: olderThan, limit: MAX_PAGE }
      const pruned = await pruneAll(() => store.removeDispatches(removal), removal.limit, clock)
      await pruneAll(async () => (await store.forgetExpired?.(MAX_PAGE)) ?? 0, MAX_PAGE, clock)
      return { pruned }
    },
  }
}

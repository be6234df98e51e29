import { anAge, anInstant, aTenant, aText, type Checks, checkOptions, oneOf } from './check-options.ts'
import { viewDispatch } from './core/dispatch/dispatch-view.ts'
import { wake } from './core/dispatch/wake.ts'
import type { DispatchStatus, DispatchView } from './model/dispatch.ts'
import { type ListOptions, listQuery, MAX_PAGE, pageChecks, type TenantScope, tenantOf, viewPage } from './paging.ts'
import type { Clock } from './ports/clock.ts'
import type { DeliveryQueue } from './ports/delivery-queue.ts'
import type { DeliveryChange, DispatchStore, Page } from './ports/dispatch-store.ts'
import type { Logger } from './ports/logger.ts'
import { pruneAll } from './prune-all.ts'

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
  readonly dispatch: DispatchView
}

/** Which deliveries to try again. */
export interface RetryOptions extends TenantScope {
  /** Default: all that failed or expired. */
  readonly channel?: string
}

/** The dispatches of a host. Each throws what the store throws; `undefined`: there is no such dispatch in that tenant. */
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
   * Tries `failed` and `expired` deliveries again, at once and with a schedule that begins anew; not those that failed before
   * there was anything to send. With the route `first`, only when nothing of the dispatch was sent or may yet be.
   */
  retry(dispatchId: string, options?: RetryOptions): Promise<RetryResult | undefined>
  /**
   * Removes dispatches that were accepted so long ago, with their deliveries. One of which something may yet be sent is spared.
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

interface DispatchesDeps {
  readonly store: DispatchStore
  readonly queue: DeliveryQueue
  readonly logger: Logger
  readonly expiresInMs: number
  readonly sandbox: boolean
  readonly clock: Clock
}

/** The name of the list, in its cursors. */
const LIST = 'dispatches'

const STATUSES = ['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled'] satisfies DispatchStatus[]

const LIST_CHECKS: Checks = {
  ...pageChecks(LIST),
  sessionId: aText,
  eventType: aText,
  recipient: aText,
  status: oneOf(STATUSES),
  since: anInstant,
  until: anInstant,
}

const PRUNE_CHECKS: Checks = { olderThan: anAge, tenant: aTenant }

export function dispatchesOf({ store, queue, logger, expiresInMs, sandbox, clock }: DispatchesDeps): Dispatches {
  return {
    async get(dispatchId, scope) {
      const found = await store.findDispatch(tenantOf(scope), dispatchId)
      return found && viewDispatch(found)
    },
    async list(options = {}) {
      const query = listQuery(LIST, checkOptions('dispatches.list', options, LIST_CHECKS))
      return viewPage(LIST, await store.listDispatches(query), viewDispatch)
    },
    async cancel(dispatchId, scope) {
      const change = await store.cancel(tenantOf(scope), dispatchId)
      return change && { cancelled: change.changed, dispatch: viewDispatch(change.dispatch) }
    },
    async retry(dispatchId, { channel, ...scope } = {}) {
      const tenant = tenantOf(scope)
      if (sandbox) {
        const found = await store.findDispatch(tenant, dispatchId)
        return found && { retried: [], dispatch: viewDispatch(found) }
      }
      const options = { expiresInMs, ...(channel !== undefined && { channel }) }
      const change = await store.retry(tenant, dispatchId, options)
      const retried = change?.changed.filter(({ status }) => status === 'queued' || status === 'held') ?? []
      if (retried.length > 0) wake(queue, logger)
      return change && { retried, dispatch: viewDispatch(change.dispatch) }
    },
    async prune(options) {
      const { olderThan, tenant } = checkOptions('dispatches.prune', options, PRUNE_CHECKS)
      const removal = { tenant, acceptedForMs: olderThan, limit: MAX_PAGE }
      return { pruned: await pruneAll(() => store.removeDispatches(removal), removal.limit, clock) }
    },
  }
}

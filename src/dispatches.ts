import { viewDispatch } from './core/dispatch/dispatch-view.ts'
import { wake } from './core/dispatch/wake.ts'
import { SallyportError } from './errors.ts'
import type { DispatchStatus, DispatchView } from './model/dispatch.ts'
import { type ListOptions, listQuery, type TenantScope, tenantOf } from './paging.ts'
import type { DeliveryQueue } from './ports/delivery-queue.ts'
import type { DeliveryChange, DispatchStore, Page } from './ports/dispatch-store.ts'
import type { Logger } from './ports/logger.ts'

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
   * @throws {SallyportError} `option_invalid`, for a `status` that is none, or a `since` or `until` that is no time.
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
}

interface DispatchesDeps {
  readonly store: DispatchStore
  readonly queue: DeliveryQueue
  readonly logger: Logger
  readonly expiresInMs: number
  readonly sandbox: boolean
}

export function dispatchesOf({ store, queue, logger, expiresInMs, sandbox }: DispatchesDeps): Dispatches {
  return {
    async get(dispatchId, scope) {
      const found = await store.findDispatch(tenantOf(scope), dispatchId)
      return found && viewDispatch(found)
    },
    async list({ since, until, ...options } = {}) {
      checkStatus(options.status)
      const times = { ...instantOf('since', since), ...instantOf('until', until) }
      const page = await store.listDispatches({ ...listQuery(options), ...times })
      return { ...page, items: page.items.map(viewDispatch) }
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
  }
}

const STATUSES: readonly unknown[] = [
  'queued',
  'sent',
  'partial',
  'failed',
  'skipped',
  'cancelled',
] satisfies DispatchStatus[]

function checkStatus(status: DispatchStatus | undefined): void {
  if (status === undefined || STATUSES.includes(status)) return
  const detail = `is one of ${STATUSES.join(', ')}`
  throw new SallyportError('option_invalid', 'dispatches.list:', [{ field: 'status', detail }])
}

function instantOf<Name extends 'since' | 'until'>(
  name: Name,
  value: Date | number | undefined,
): { readonly [Key in Name]?: number } {
  if (value === undefined) return {}
  const ms = typeof value === 'number' || value instanceof Date ? Number(value) : Number.NaN
  if (Number.isFinite(ms)) return { [name]: ms } as { readonly [Key in Name]: number }
  throw new SallyportError('option_invalid', 'dispatches.list:', [
    { field: name, detail: 'is a Date, or epoch milliseconds' },
  ])
}

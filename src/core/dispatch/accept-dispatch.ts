import { SallyportError } from '../../errors.ts'
import type {
  Dispatch,
  DispatchAnswer,
  DispatchHead,
  DispatchRequest,
  DispatchView,
  Warning,
} from '../../model/dispatch.ts'
import { isHostCodeReason } from '../../model/dispatch.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { Acceptance, DispatchStore, NewDelivery, NewDigest, NewDispatch } from '../../ports/dispatch-store.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { PlanSource } from '../../ports/plan-source.ts'
import { port } from '../answers/fault.ts'
import type { FaultDeps } from '../answers/report-fault.ts'
import { type HandlerResult, type Refused, success } from '../answers/result.ts'
import { type Hooks, reportAccepted } from '../hooks.ts'
import { type MeasureDeps, measureAccepted } from '../measure.ts'
import { wakeFor } from '../wake.ts'
import { grantSpent } from './authorise-dispatch.ts'
import type { Caller } from './caller.ts'
import { viewDispatch } from './dispatch-view.ts'
import { keyReused, replayed } from './idempotency.ts'
import type { Plan, PlannedDelivery } from './plan/plan-dispatch.ts'

export interface AcceptDeps extends FaultDeps, MeasureDeps {
  readonly store: Pick<DispatchStore, 'accept' | 'recall'>
  /** Woken when a delivery is queued. Absent: workers find it at their next poll. */
  readonly queue?: DeliveryQueue
  /** Milliseconds from the first due time of a delivery to its expiry. Default: 72 hours. */
  readonly expiresInMs?: number
  readonly hooks?: Hooks
  /** Receives work that continues after an answer, so that a host can wait for it. It never rejects. Default: not awaited. */
  readonly background?: (work: Promise<void>) => void
  /** Called with an accepted dispatch that has a delivery due at once. */
  readonly onDue?: (tenant: string, dispatchId: string) => void
}

export const EXPIRES_IN_MS: number = 72 * 3_600_000

/** The input of the store for a planned dispatch. */
export function acceptanceOf(
  dispatch: NewDispatch,
  warnings: readonly Warning[],
  { idempotency, quotas }: { readonly [Name in 'idempotency' | 'quotas']: Acceptance[Name] | undefined },
  { expiresInMs = EXPIRES_IN_MS }: Pick<AcceptDeps, 'expiresInMs'>,
): Acceptance {
  const answer = (stored: Dispatch): DispatchAnswer => ({ duplicate: false, warnings, ...answerOf(stored) })
  return { dispatch, expiresInMs, answer, quotas, ...(idempotency && { idempotency }) }
}

/** Stores the dispatch, its deliveries and its idempotency key in one atomic call, then wakes workers. */
export async function storeDispatch(
  plan: Plan,
  acceptance: Acceptance,
  deps: AcceptDeps,
): Promise<HandlerResult<DispatchAnswer> | Refused> {
  const { dispatch } = acceptance
  const { eventType } = dispatch
  const outcome = await port('store_unavailable', () => deps.store.accept(acceptance), { eventType })
  switch (outcome.outcome) {
    case 'accepted':
      reportStored(outcome.answer, plan, dispatch, deps)
      return success(202, outcome.answer)
    case 'replayed':
      return replayed(outcome.answer)
    case 'key_reused':
      return keyReused()
    case 'quota_spent':
      return grantSpent()
    case 'id_taken':
      throw idTaken()
    default:
      throw new TypeError('the store gave no outcome')
  }
}

/** Wakes workers for a dispatch that was stored, logs and measures it, and calls the hooks. */
export function reportStored(answer: DispatchAnswer, plan: Plan, dispatch: NewDispatch, deps: AcceptDeps): void {
  logFailed(plan, dispatch, deps)
  wakeFor(answer.deliveries, dispatch.deliveries, deps)
  if (isDueAtOnce(answer, dispatch)) deps.onDue?.(dispatch.tenant, dispatch.dispatchId)
  measureAccepted(answer, dispatch, deps)
  if (deps.hooks) {
    const reported = reportAccepted(answer, dispatch, deps)
    deps.background?.(reported)
  }
}

export function idTaken(): SallyportError {
  return new SallyportError('answer_invalid', ID_TAKEN)
}

const ID_TAKEN =
  'next() of the id generator returned the id of a stored dispatch or delivery; return a new id at each call'

/** Leaves out `by`, which a caller need not know. */
function answerOf(dispatch: Dispatch): Omit<DispatchView, 'by'> {
  const { by: _, ...view } = viewDispatch(dispatch, dispatch.createdAt)
  return view
}

function isDueAtOnce({ deliveries }: DispatchAnswer, dispatch: NewDispatch): boolean {
  if (!deliveries.some(({ status }) => status === 'queued')) return false
  return dispatch.deliveries.some(({ status, delayMs = 0 }) => status === 'queued' && delayMs === 0)
}

/** Logs deliveries that failed during planning, in host code. */
export function logFailed(
  { deliveries }: Pick<Plan, 'deliveries'>,
  { dispatchId, eventType }: Pick<DispatchHead, 'dispatchId' | 'eventType'>,
  { logger }: Pick<FaultDeps, 'logger'>,
): void {
  for (const planned of deliveries) {
    if (planned.status !== 'failed') continue
    const { channel, reason, detail } = planned
    logger.log('warn', 'delivery.failed', { dispatchId, eventType, channel, reason, detail })
  }
}

/** Event, caller and time of a dispatch. */
export interface DispatchOrigin extends Pick<Caller, 'id' | 'tenant' | 'session'> {
  readonly event: CatalogEvent
  readonly request: DispatchRequest
  /** Time of planning, epoch milliseconds. */
  readonly now: number
  /** Overrides the event's own delay. */
  readonly delayMs: number | undefined
  readonly sandbox: boolean
  /** Guards and links of the plugins. */
  readonly plugins: readonly string[]
}

export function newDispatch(
  plan: Plan,
  { event, request, id: by, tenant, session, delayMs, sandbox, plugins }: DispatchOrigin,
  ids: IdGenerator,
): NewDispatch {
  const { recipient, sessionId, eventData = {} } = request
  const { locale } = plan
  const source: PlanSource = {
    eventData,
    ...(session !== undefined && { session }),
    ...(delayMs !== undefined && { delayMs }),
  }
  return {
    dispatchId: ids.next('dsp'),
    tenant,
    by,
    eventType: event.eventType,
    recipient,
    ...(sessionId !== undefined && { sessionId }),
    route: event.route,
    ...(event.critical && { critical: true }),
    ...(event.priority === 'urgent' && { priority: event.priority }),
    ...(sandbox && { sandboxed: true }),
    ...(locale !== undefined && { locale }),
    ...(plugins.length > 0 && { plugins }),
    deliveries: newDeliveries(plan, event, source, () => ids.next('dlv')),
    ...(plan.deliveries.some(failedInHostCode) && { source }),
  }
}

/** Such a delivery can be planned again after the host's code has changed. */
function failedInHostCode({ status, ...planned }: PlannedDelivery): boolean {
  return status === 'failed' && 'reason' in planned && isHostCodeReason(planned.reason)
}

export function newDeliveries(
  { deliveries, recipient }: Pick<Plan, 'deliveries' | 'recipient'>,
  { digest }: CatalogEvent,
  { eventData, session }: PlanSource,
  idOf: (channel: string) => string,
): readonly NewDelivery[] {
  const opened = digest && { max: digest.max, recipient, eventData, session }
  return deliveries.map((planned) => newDelivery(planned, idOf(planned.channel), opened))
}

function newDelivery(
  planned: PlannedDelivery,
  deliveryId: string,
  digest: (Omit<NewDigest, 'key'> & { readonly session: string | undefined }) | undefined,
): NewDelivery {
  if (planned.status === 'failed') {
    return { deliveryId, channel: planned.channel, status: 'failed', reason: planned.reason }
  }
  if (planned.status === 'skipped') return { deliveryId, ...planned }
  const { digestKey, content, ...delivery } = planned
  const isDeferred = planned.status === 'held' || planned.delayMs !== undefined
  const deferred = isDeferred && { deferred: true as const }
  if (!digest || digestKey === undefined) return { deliveryId, content, ...deferred, ...delivery }
  const { session, ...rest } = digest
  return { deliveryId, digest: { key: scopedKey(session, digestKey), ...rest }, ...deferred, ...delivery }
}

/** Separates digests by session, so that an agent can neither add to nor count those of others. No session id contains a space. */
function scopedKey(session: string | undefined, digestKey: string): string {
  return session === undefined ? ` ${digestKey}` : `${session} ${digestKey}`
}

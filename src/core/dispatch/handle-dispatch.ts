import type { Issue } from '../../errors.ts'
import type { Dispatch, DispatchAnswer, DispatchHead, DispatchPreview, Warning } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { Acceptance, DispatchStore, NewDispatch } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import { type AnswerDeps, answering, port } from '../answers/fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate } from '../authenticate.ts'
import { type Hooks, reportAccepted } from '../delivery/hooks.ts'
import { validate } from '../validate.ts'
import { authoriseDispatch, grantSpent, quotaOf } from './authorise-dispatch.ts'
import { dispatchSchema } from './dispatch-schema.ts'
import { viewDispatch } from './dispatch-view.ts'
import { type EventFault, reportEventFaults } from './event-faults.ts'
import { keyReused, type Repeatable, readIdempotencyKey, repeatableOf, replay, replayed } from './idempotency.ts'
import { newDispatch } from './plan/new-dispatch.ts'
import type { Plan } from './plan/plan-dispatch.ts'
import { type PlanningDeps, planRequest, unknownEvent } from './plan/plan-request.ts'
import { previewDispatch } from './plan/preview-dispatch.ts'
import { readMode } from './read-mode.ts'
import { wakeFor } from './wake.ts'

/** What dispatching needs. */
export interface DispatchDeps extends AnswerDeps, PlanningDeps {
  readonly auth: AuthVerifier
  readonly events: EventCatalog
  readonly store: DispatchStore
  /** Woken when something is to be sent. Absent: workers find it when they next look. */
  readonly queue?: DeliveryQueue
  readonly clock: Clock
  /** How long a delivery is worth sending, from when it is first due. Default: 72 hours. */
  readonly expiresInMs?: number
  /** How long an `Idempotency-Key` is remembered. Default: 24 hours. */
  readonly idempotencyTtlMs?: number
  readonly hooks?: Hooks
  /** Given what goes on after an answer, so that a host may wait for it. It never rejects. Default: nobody waits. */
  readonly background?: (work: Promise<void>) => void
  /** Called with a dispatch that was accepted, of which something is due at once. Default: nobody. */
  readonly onDue?: (tenant: string, dispatchId: string) => void
}

/** How an event is to be accepted. */
export interface AcceptOptions {
  /** Instead of the event's own delay. */
  readonly delayMs?: number | undefined
  /** Makes it the same dispatch as any other with this key, whatever it says: a key of the host's own, that no caller can send. */
  readonly key?: string
  /** Asked last before it is planned: refuses when the recipient has had too much. */
  readonly admit?: ((tenant: string, recipient: string) => Promise<Refused | undefined>) | undefined
}

const HOUR_MS = 3_600_000
/** How long a key of the host's own is remembered: within it, what it stands for happens once. */
const OWN_KEY_MS = 366 * 24 * HOUR_MS
/** How long a delivery is worth sending, where the host does not say. */
export const EXPIRES_IN_MS: number = 72 * HOUR_MS

/** Authenticates a request, then accepts its event. It never sends: a worker does. */
export function handleDispatch(
  request: HandlerRequest,
  deps: DispatchDeps,
): Promise<HandlerResult<DispatchAnswer | DispatchPreview>> {
  return answering(deps, async () => {
    const principal = await authenticate(request.headers, 'dispatch', deps.auth)
    return isRefused(principal) ? principal : planAndAccept(principal, request, deps)
  })
}

/** Validates, authorises, plans and stores the event of a principal. */
export async function planAndAccept(
  principal: Principal,
  request: HandlerRequest,
  deps: DispatchDeps,
  { delayMs, key, admit }: AcceptOptions = {},
): Promise<HandlerResult<DispatchAnswer | DispatchPreview> | Refused> {
  const idempotency = readIdempotencyKey(request.headers)
  if (isRefused(idempotency)) return idempotency
  const mode = readMode(request.query, principal)
  if (isRefused(mode)) return mode
  const valid = validate(dispatchSchema, request.body)
  if (isRefused(valid)) return valid
  const { value, warnings, misnamed = [] } = valid

  const event = deps.events.find(value.eventType)
  const authorised = authoriseDispatch(principal, value, event)
  if (isRefused(authorised)) return authorised
  const { tenant, sessionId: session } = principal
  const repeatable = await repeatableOf(principal, mode === 'dry_run' ? undefined : idempotency.key, request.body, key)
  const place = event && { eventType: event.eventType }
  const recall = ({ key }: Repeatable) => port('store_unavailable', () => deps.store.recall(tenant, key), place)
  const remembered = repeatable && (await recall(repeatable))
  if (remembered) return replay(remembered, repeatable)

  if (!event) return unknownEvent(authorised.eventType, deps.events, principal.dispatch)
  const limited = mode === 'dispatch' ? await admit?.(tenant, authorised.recipient) : undefined
  if (limited) return limited
  const now = deps.clock.now()
  const faults: EventFault[] = []
  const scope = { tenant, session, grant: principal.dispatch, now, delayMs }
  const plan = await planRequest(event, authorised, scope, deps, faults)
  const origin = { event, request: authorised, tenant, session, delayMs, sandbox: deps.sandbox === true }
  const isAccepting = !isRefused(plan) && mode === 'dispatch'
  const dispatch = isAccepting ? newDispatch(plan, origin, deps.ids) : undefined
  reportEventFaults(faults, { eventType: event.eventType, dispatchId: dispatch?.dispatchId }, deps)
  if (isRefused(plan)) return hinted(plan, misnamed)
  if (!dispatch) return success(200, previewDispatch(plan, origin, now, warnings))
  const { idempotencyTtlMs = 24 * HOUR_MS } = deps
  const kept = repeatable && { ...repeatable, ttlMs: key === undefined ? idempotencyTtlMs : OWN_KEY_MS }
  const counted = { ...(kept && { idempotency: kept }), ...quotaOf(principal) }
  return accept(plan, dispatch, warnings, counted, deps)
}

/** Where the event's data are not what they should be, they may be there under another name. */
function hinted(refused: Refused, misnamed: readonly Issue[]): Refused {
  const { errors } = refused
  const isOfData = errors?.some(({ pointer }) => pointer.startsWith('/eventData'))
  return errors && isOfData ? { ...refused, errors: [...errors, ...misnamed] } : refused
}

/** One atomic call: the dispatch, its deliveries and its key, or nothing. */
async function accept(
  plan: Plan,
  dispatch: NewDispatch,
  warnings: readonly Warning[],
  counted: Pick<Acceptance, 'idempotency' | 'quota'>,
  deps: DispatchDeps,
): Promise<HandlerResult<DispatchAnswer> | Refused> {
  const { expiresInMs = EXPIRES_IN_MS } = deps
  const answer = (stored: Dispatch): DispatchAnswer => ({ duplicate: false, warnings, ...viewDispatch(stored) })
  const { eventType } = dispatch
  const accepting = () => deps.store.accept({ dispatch, expiresInMs, answer, ...counted })
  const outcome = await port('store_unavailable', accepting, { eventType })
  switch (outcome.outcome) {
    case 'accepted':
      logFailed(plan, dispatch, deps)
      wakeFor(outcome.answer.deliveries, dispatch.deliveries, deps)
      if (isDueAtOnce(outcome.answer, dispatch)) deps.onDue?.(dispatch.tenant, dispatch.dispatchId)
      if (deps.hooks) {
        const reported = reportAccepted(outcome.answer, dispatch, deps)
        deps.background?.(reported)
      }
      return success(202, outcome.answer)
    case 'replayed':
      return replayed(outcome.answer)
    case 'key_reused':
      return keyReused()
    case 'quota_spent':
      return grantSpent()
    default:
      throw new TypeError('the store gave no outcome')
  }
}

function isDueAtOnce({ deliveries }: DispatchAnswer, dispatch: NewDispatch): boolean {
  if (!deliveries.some(({ status }) => status === 'queued')) return false
  return dispatch.deliveries.some(({ status, delayMs = 0 }) => status === 'queued' && delayMs === 0)
}

/** What failed before there was anything to send fails in the host's own code: nobody else can tell. */
export function logFailed(
  { deliveries }: Pick<Plan, 'deliveries'>,
  { dispatchId, eventType }: Pick<DispatchHead, 'dispatchId' | 'eventType'>,
  { logger }: Pick<DispatchDeps, 'logger'>,
): void {
  for (const planned of deliveries) {
    if (planned.status !== 'failed') continue
    const { channel, reason, detail } = planned
    logger.log('warn', 'delivery.failed', { dispatchId, eventType, channel, reason, detail })
  }
}

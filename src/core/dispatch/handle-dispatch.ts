import type { Issue } from '../../errors.ts'
import type { DispatchAnswer, DispatchPreview } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import { type AnswerDeps, answering, type EventFault, port, reportEventFaults } from '../answers/fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate } from '../authenticate.ts'
import type { Hooks } from '../hooks.ts'
import { validate } from '../validate.ts'
import { type AcceptDeps, newDispatch, storeDispatch } from './accept-dispatch.ts'
import { authoriseDispatch, quotasOf, readMode } from './authorise-dispatch.ts'
import { dispatchSchema } from './dispatch-schema.ts'
import { previewDispatch } from './dispatch-view.ts'
import { readIdempotencyKey, repeatableOf, replay } from './idempotency.ts'
import { type PlanningDeps, planRequest, unknownEvent } from './plan/plan-request.ts'

/** Dependencies of a dispatch. */
export interface DispatchDeps extends AnswerDeps, PlanningDeps, AcceptDeps {
  readonly auth: AuthVerifier
  readonly events: EventCatalog
  readonly clock: Clock
  readonly hooks?: Hooks
  /** Milliseconds that an `Idempotency-Key` is kept. Default: 24 hours. */
  readonly idempotencyTtlMs?: number
}

/** The agent that caused an event which the host dispatches. */
export interface CausedBy {
  readonly sessionId: string
  readonly quotas: readonly SendLimit[]
}

export interface AcceptOptions {
  readonly delayMs?: number | undefined
  /** A key of the host, which no caller can send. All dispatches with this key are one dispatch, also with other bodies. */
  readonly key?: string
  /** Default: the principal's session and quotas. */
  readonly causedBy?: CausedBy | undefined
  /** Called before planning; refuses when the recipient has had too many dispatches. */
  readonly admit?: ((tenant: string, recipient: string) => Promise<Refused | undefined>) | undefined
}

const HOUR_MS = 3_600_000
const OWN_KEY_MS = 366 * 24 * HOUR_MS

export function handleDispatch(
  request: HandlerRequest,
  deps: DispatchDeps,
): Promise<HandlerResult<DispatchAnswer | DispatchPreview>> {
  return answering(deps, async () => {
    const principal = await authenticate(request.headers, 'dispatch', deps.auth, deps.clock)
    return isRefused(principal) ? principal : planAndAccept(principal, request, deps)
  })
}

export async function planAndAccept(
  principal: Principal,
  request: HandlerRequest,
  deps: DispatchDeps,
  { delayMs, key, causedBy, admit }: AcceptOptions = {},
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
  const { tenant, sessionId: session = causedBy?.sessionId } = principal
  const repeatable = await repeatableOf(principal, mode === 'dry_run' ? undefined : idempotency.key, request.body, key)
  if (repeatable) {
    const place = event && { eventType: event.eventType }
    const stored = await port('store_unavailable', () => deps.store.recall(tenant, repeatable.key), place)
    if (stored) return replay(stored, repeatable)
  }

  if (!event) return unknownEvent(authorised.eventType, deps.events, principal.dispatch)
  const limited = mode === 'dispatch' ? await admit?.(tenant, authorised.recipient) : undefined
  if (limited) return limited
  const now = deps.clock.now()
  const faults: EventFault[] = []
  const scope = { tenant, session, grant: principal.dispatch, now, delayMs }
  const plan = await planRequest(event, authorised, scope, deps, faults)
  const origin = {
    event,
    request: authorised,
    by: principal.id,
    tenant,
    session,
    delayMs,
    sandbox: deps.sandbox === true,
  }
  const isAccepting = !isRefused(plan) && mode === 'dispatch'
  const dispatch = isAccepting ? newDispatch(plan, origin, deps.ids) : undefined
  reportEventFaults(faults, { eventType: event.eventType, dispatchId: dispatch?.dispatchId }, deps)
  if (isRefused(plan)) return withHints(plan, misnamed)
  if (!dispatch) return success(200, previewDispatch(plan, origin, now, warnings))
  const { idempotencyTtlMs = 24 * HOUR_MS } = deps
  const kept = repeatable && { ...repeatable, ttlMs: key === undefined ? idempotencyTtlMs : OWN_KEY_MS }
  const { quotas } = causedBy ?? quotasOf(principal)
  const counted = { ...(kept && { idempotency: kept }), ...(quotas && { quotas }) }
  return storeDispatch(plan, dispatch, warnings, counted, deps)
}

/** Missing event data may have been sent under another name: adds the unknown fields to the refusal. */
function withHints(refused: Refused, misnamed: readonly Issue[]): Refused {
  const { errors } = refused
  const isAboutData = errors?.some(({ pointer }) => pointer.startsWith('/eventData'))
  return errors && isAboutData ? { ...refused, errors: [...errors, ...misnamed] } : refused
}

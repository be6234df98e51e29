import type { Issue } from '../../errors.ts'
import type { DispatchAnswer, DispatchPreview, Warning } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Acceptance } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import { type AnswerDeps, answering, type EventFault, port, reportEventFaults } from '../answers/fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate, insufficientScope } from '../authenticate.ts'
import type { Hooks } from '../hooks.ts'
import { type AcceptDeps, acceptanceOf, type DispatchOrigin, newDispatch, storeDispatch } from './accept-dispatch.ts'
import { type CausedBy, callerOf } from './caller.ts'
import { previewDispatch } from './dispatch-view.ts'
import { repeatableOf, replay } from './idempotency.ts'
import type { Plan } from './plan/plan-dispatch.ts'
import { type PlanningDeps, planRequest, unknownEvent } from './plan/plan-request.ts'
import { readDispatch } from './read-dispatch.ts'

/** Dependencies of a dispatch. */
export interface DispatchDeps extends AnswerDeps, PlanningDeps, AcceptDeps {
  readonly auth: AuthVerifier
  readonly events: EventCatalog
  readonly clock: Clock
  readonly hooks?: Hooks
  /** Milliseconds that an `Idempotency-Key` is kept. Default: 24 hours. */
  readonly idempotencyTtlMs?: number
  /** Events that only plugins dispatch. Default: none. */
  readonly ownEvents?: readonly string[] | undefined
}

export interface AcceptOptions {
  readonly delayMs?: number | undefined
  /** The plugin plans it whose own event it may be. Default: `false`. */
  readonly isPlanned?: boolean
  /** A key of the host, which no caller can send. All dispatches with this key are one dispatch, also with other bodies. */
  readonly key?: string
  /** Default: the principal's session and quotas. */
  readonly causedBy?: CausedBy | undefined
  /** Called before planning; refuses when the recipient has had too many dispatches. */
  readonly admit?: ((tenant: string, recipient: string) => Promise<Refused | undefined>) | undefined
}

export function handleDispatch(
  request: HandlerRequest,
  deps: DispatchDeps,
): Promise<HandlerResult<DispatchAnswer | DispatchPreview>> {
  return answering(deps, async () => {
    const principal = await authenticate(request.headers, 'dispatch', deps.auth, deps.clock)
    return isRefused(principal) ? principal : planAndAccept(principal, request, deps)
  })
}

/** Repeats the stored answer of a known key; otherwise plans the dispatch, and accepts it unless it is a dry run. */
export async function planAndAccept(
  principal: Principal,
  request: HandlerRequest,
  deps: DispatchDeps,
  options?: AcceptOptions,
): Promise<HandlerResult<DispatchAnswer | DispatchPreview> | Refused> {
  const planned = await planToAccept(principal, request, deps, options)
  return 'acceptance' in planned ? storeDispatch(planned.plan, planned.acceptance, deps) : planned
}

/** A dispatch that may be stored. */
export interface PlannedDispatch {
  readonly plan: Plan
  readonly origin: DispatchOrigin
  readonly warnings: readonly Warning[]
  readonly acceptance: Acceptance
}

/** Plans a dispatch. Returns the answer if nothing is to be stored: a known key, a dry run, or a refusal. */
export async function planToAccept(
  principal: Principal,
  request: HandlerRequest,
  deps: DispatchDeps,
  { delayMs, isPlanned = false, key, causedBy, admit }: AcceptOptions = {},
): Promise<PlannedDispatch | HandlerResult<DispatchAnswer | DispatchPreview> | Refused> {
  const asked = readDispatch(request, principal, deps.events)
  if (isRefused(asked)) return asked
  const { event, mode, warnings } = asked
  const caller = callerOf(principal, causedBy)

  const idempotency = await repeatableOf(principal, asked.key, request.body, key, deps.idempotencyTtlMs)
  if (idempotency) {
    const place = event && { eventType: event.eventType }
    const stored = await port('store_unavailable', () => deps.store.recall(caller.tenant, idempotency.key), place)
    if (stored) return replay(stored, idempotency)
  }

  if (!event) return unknownEvent(asked.request.eventType, deps.events, caller.grant)
  if (mode === 'dispatch' && !isPlanned && deps.ownEvents?.includes(event.eventType))
    return insufficientScope('Only a plugin of the host dispatches this event.')
  const limited = mode === 'dispatch' ? await admit?.(caller.tenant, asked.request.recipient) : undefined
  if (limited) return limited

  const now = deps.clock.now()
  const { sandbox = false, protection: plugins = [] } = deps
  const origin = { ...caller, event, request: asked.request, now, delayMs, sandbox, plugins }
  const faults: EventFault[] = []
  const plan = await planRequest(event, asked.request, origin, deps, faults)
  const dispatch = isRefused(plan) || mode === 'dry_run' ? undefined : newDispatch(plan, origin, deps.ids)
  reportEventFaults(faults, { eventType: event.eventType, dispatchId: dispatch?.dispatchId }, deps)
  if (isRefused(plan)) return withHints(plan, asked.misnamed)
  if (!dispatch) return success(200, previewDispatch(plan, origin, warnings))
  const { quotas } = caller
  return { plan, origin, warnings, acceptance: acceptanceOf(dispatch, warnings, { idempotency, quotas }, deps) }
}

/** Missing event data may have been sent under another name: adds the unknown fields to the refusal. */
function withHints(refused: Refused, misnamed: readonly Issue[]): Refused {
  const { errors } = refused
  const isAboutData = errors?.some(({ pointer }) => pointer.startsWith('/eventData'))
  return errors && isAboutData ? { ...refused, errors: [...errors, ...misnamed] } : refused
}

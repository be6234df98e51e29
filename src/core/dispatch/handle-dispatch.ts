import type { Dispatch, DispatchAnswer, Warning } from '../../model/dispatch.ts'
import type { DispatchPreview } from '../../model/dispatch-preview.ts'
import type { Principal } from '../../model/principal.ts'
import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { Acceptance, DispatchStore, NewDispatch } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import { authenticate, insufficientScope } from '../authenticate.ts'
import { type AnswerDeps, answering, port } from '../fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, refuse, success } from '../result.ts'
import { validate } from '../validate.ts'
import { authoriseDispatch, grantSpent, quotaOf } from './authorise-dispatch.ts'
import { dispatchSchema } from './dispatch-schema.ts'
import { viewDispatch } from './dispatch-view.ts'
import { type Hooks, tellAccepted } from './hooks.ts'
import { keyReused, readIdempotencyKey, repeatableOf, replay, replayed } from './idempotency.ts'
import { newDispatch } from './new-dispatch.ts'
import type { Plan } from './plan-dispatch.ts'
import { type PlanningDeps, planRequest, unknownEvent } from './plan-request.ts'
import { previewDispatch } from './preview-dispatch.ts'
import { wake } from './wake.ts'

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
    return isRefused(principal) ? principal : acceptDispatch(principal, request, deps)
  })
}

/** Validates, authorises, plans and stores the event of a principal. */
export async function acceptDispatch(
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
  const { value, warnings } = valid

  const event = deps.events.find(value.eventType)
  const authorised = authoriseDispatch(principal, value, event)
  if (isRefused(authorised)) return authorised
  const { tenant, sessionId: session } = principal
  const repeatable = await repeatableOf(principal, mode === 'dry_run' ? undefined : idempotency.key, request.body, key)
  const remembered = repeatable && (await port('store_unavailable', () => deps.store.recall(tenant, repeatable.key)))
  if (remembered) return replay(remembered, repeatable)

  if (!event) return unknownEvent(authorised.eventType, deps.events)
  const limited = mode === 'dispatch' ? await admit?.(tenant, authorised.recipient) : undefined
  if (limited) return limited
  const now = deps.clock.now()
  const plan = await planRequest(event, authorised, { tenant, session, now, delayMs }, deps)
  if (isRefused(plan)) return plan
  const origin = { event, request: authorised, tenant, session, now, sandbox: deps.sandbox === true }
  if (mode === 'dry_run') return success(200, previewDispatch(plan, origin, warnings))
  const { idempotencyTtlMs = 24 * HOUR_MS } = deps
  const kept = repeatable && { ...repeatable, ttlMs: key === undefined ? idempotencyTtlMs : OWN_KEY_MS }
  const counted = { ...(kept && { idempotency: kept }), ...quotaOf(principal) }
  return accept(plan, newDispatch(plan, origin, deps.ids), warnings, counted, deps)
}

/** `?dryRun=true` shows rendered content, and with it what the host knows of a recipient: for applications only. */
function readMode(query: HandlerRequest['query'] = {}, principal: Principal): 'dispatch' | 'dry_run' | Refused {
  // What is nearly `dryRun` must not send.
  const misspelt = Object.keys(query).some((name) => name !== 'dryRun' && /^dry[-_]?run$/i.test(name))
  const { dryRun } = query
  if (misspelt || (dryRun !== undefined && dryRun !== 'true' && dryRun !== 'false')) {
    return refuse('validation_failed', 'The query parameter dryRun, written so, takes true or false.')
  }
  if (dryRun !== 'true') return 'dispatch'
  if (principal.sessionId === undefined) return 'dry_run'
  return insufficientScope('A dry run needs an application secret.')
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
  const outcome = await port('store_unavailable', () =>
    deps.store.accept({ dispatch, expiresInMs, answer, ...counted }),
  )
  switch (outcome.outcome) {
    case 'accepted':
      logFailed(plan, dispatch, deps)
      wakeFor(outcome.answer, dispatch, deps)
      if (deps.hooks) {
        const told = tellAccepted(outcome.answer, dispatch, deps)
        deps.background?.(told)
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

/** Now, so that workers know of it, and when it is due, whoever is there by then. */
function wakeFor(answer: DispatchAnswer, dispatch: NewDispatch, { queue, logger }: DispatchDeps): void {
  if (!answer.deliveries.some(({ status }) => status === 'queued')) return
  const delays = dispatch.deliveries.flatMap(({ status, delayMs = 0 }) => (status === 'queued' ? delayMs : []))
  for (const delayMs of new Set([0, ...delays])) wake(queue, logger, delayMs)
}

/** What failed before there was anything to send fails in the host's own code: nobody else can tell. */
function logFailed({ deliveries }: Plan, { dispatchId, eventType }: NewDispatch, { logger }: DispatchDeps): void {
  for (const planned of deliveries) {
    if (planned.status !== 'failed') continue
    const { channel, reason, detail } = planned
    logger.log('warn', 'delivery.failed', { dispatchId, eventType, channel, reason, detail })
  }
}

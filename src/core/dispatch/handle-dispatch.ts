import type { Dispatch, DispatchAnswer, DispatchRequest, Warning } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import type { RecipientDirectory } from '../../ports/recipient-directory.ts'
import { authenticate, insufficientScope } from '../authenticate.ts'
import { type AnswerDeps, answering, describeCause, port } from '../fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, refuse, success } from '../result.ts'
import { validate } from '../validate.ts'
import { authoriseDispatch } from './authorise-dispatch.ts'
import { dispatchSchema } from './dispatch-schema.ts'
import { viewDispatch } from './dispatch-view.ts'
import { keyReused, type Repeatable, readIdempotencyKey, repeatableAs, replay, replayed } from './idempotency.ts'
import type { Plan } from './plan-dispatch.ts'
import { planRequest, unknownEvent } from './plan-request.ts'
import { type DispatchPreview, previewDispatch } from './preview-dispatch.ts'

/** What dispatching needs. */
export interface DispatchDeps extends AnswerDeps {
  readonly auth: AuthVerifier
  readonly events: EventCatalog
  readonly store: DispatchStore
  /** By the names that the events use. */
  readonly channels: Readonly<Record<string, Channel>>
  readonly recipients?: RecipientDirectory
  /** Woken when something is to be sent. Absent: workers find it when they next look. */
  readonly queue?: DeliveryQueue
  readonly clock: Clock
  /** How long a delivery is worth sending. Default: 72 hours. */
  readonly expiresInMs?: number
  /** How long an `Idempotency-Key` is remembered. Default: 24 hours. */
  readonly idempotencyTtlMs?: number
}

const HOUR_MS = 3_600_000

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
  const repeatable =
    idempotency.key === undefined || mode === 'dry_run'
      ? undefined
      : await repeatableAs(principal, idempotency.key, request.body)
  const remembered =
    repeatable && (await port('store_unavailable', () => deps.store.recall(principal.tenant, repeatable.key)))
  if (remembered) return replay(remembered, repeatable)

  if (!event) return unknownEvent(authorised.eventType, deps.events)
  const planned = await planRequest(event, authorised, principal.tenant, deps)
  if (isRefused(planned)) return planned
  if (mode === 'dry_run') return success(200, previewDispatch(event, planned, authorised.sessionId, warnings))

  const dispatch = newDispatch(event, authorised, principal.tenant, planned, deps)
  return store(dispatch, warnings, repeatable, deps)
}

/** `?dryRun=true` shows rendered content, and with it what the host knows of a recipient: for applications only. */
function readMode(query: HandlerRequest['query'], principal: Principal): 'dispatch' | 'dry_run' | Refused {
  const dryRun = query?.dryRun
  if (dryRun === undefined || dryRun === 'false') return 'dispatch'
  if (dryRun !== 'true') return refuse('validation_failed', 'The query parameter dryRun takes true or false.')
  if (principal.sessionId === undefined) return 'dry_run'
  return insufficientScope('A dry run needs an application secret.')
}

function newDispatch(
  event: CatalogEvent,
  { recipient, sessionId }: DispatchRequest,
  tenant: string,
  planned: Plan,
  { ids, clock }: DispatchDeps,
): Dispatch {
  const createdAt = clock.now()
  return {
    dispatchId: ids.next('dsp'),
    tenant,
    eventType: event.eventType,
    recipient,
    ...(sessionId !== undefined && { sessionId }),
    route: event.route,
    ...(planned.locale !== undefined && { locale: planned.locale }),
    createdAt,
    deliveries: planned.deliveries.map((delivery) => ({ deliveryId: ids.next('dlv'), attempts: 0, ...delivery })),
  }
}

/** One atomic call: the dispatch, its deliveries and its key, or nothing. */
async function store(
  dispatch: Dispatch,
  warnings: readonly Warning[],
  repeatable: Repeatable | undefined,
  deps: DispatchDeps,
): Promise<HandlerResult<DispatchAnswer> | Refused> {
  const { expiresInMs = 72 * HOUR_MS, idempotencyTtlMs: ttlMs = 24 * HOUR_MS } = deps
  const answer: DispatchAnswer = { ...viewDispatch(dispatch), duplicate: false, warnings }
  const idempotency = repeatable && { ...repeatable, ttlMs, answer }
  const outcome = await port('store_unavailable', () =>
    deps.store.accept({ dispatch, expiresInMs, ...(idempotency && { idempotency }) }),
  )
  switch (outcome.outcome) {
    case 'accepted':
      if (dispatch.deliveries.some(({ status }) => status === 'queued')) wake(deps)
      return success(202, answer)
    case 'replayed':
      return replayed(outcome.answer)
    case 'key_reused':
      return keyReused()
    default:
      throw new TypeError('the store gave no outcome')
  }
}

/** What is stored is stored: a queue that fails only means that a worker looks later. */
function wake({ queue, logger }: DispatchDeps): void {
  try {
    queue?.wake(0)
  } catch (cause) {
    logger.log('error', 'queue.wake_failed', describeCause(cause))
  }
}

import { answerRefusal, refusing } from '../core/answers/fault.ts'
import { listErrors } from '../core/answers/listed-errors.ts'
import { loggedProblem } from '../core/answers/logged-problem.ts'
import { forHostCall } from '../core/answers/report-fault.ts'
import { type HandlerResult, isRefused, refuse } from '../core/answers/result.ts'
import { type DispatchDeps, planAndAccept } from '../core/dispatch/handle-dispatch.ts'
import { type Problem, SallyportError } from '../errors.ts'
import type { DispatchAnswer } from '../model/dispatch.ts'
import type { Principal } from '../model/principal.ts'
import { has, text, whole } from '../options/checks.ts'
import { type Checks, isRecord, problemsIn } from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'
import type { DispatchStore } from '../ports/dispatch-store.ts'
import { type TenantScope, tenant } from './call-checks.ts'

/** Options of `sallyport.dispatch`. */
export interface DispatchCallOptions extends TenantScope {
  /** As the `Idempotency-Key` header: a second call with this key gets the first answer, whatever its `delayMs`. */
  readonly idempotencyKey?: string
  /** Delay in milliseconds, instead of the event's own; 0 to 366 days. */
  readonly delayMs?: number
  /** Store for this call, such as `sqlStore().within(transaction)`: sends only after the commit. Default: the configured store. */
  readonly store?: DispatchStore
}

const CHECKS: Checks<DispatchCallOptions> = {
  tenant,
  idempotencyKey: text,
  delayMs: whole(0, 366 * 86_400_000),
  store: has('what store.within(transaction) returned', 'accept', 'recall'),
}

/** Id under which dispatches of the host are recorded. */
export const HOST = 'host'

export function hostPrincipal(tenant: string): Principal {
  return { id: HOST, tenant }
}

export async function dispatchFromHost(
  event: unknown,
  options: DispatchCallOptions,
  deps: DispatchDeps,
): Promise<HandlerResult<DispatchAnswer>> {
  return (await dispatched(event, options, deps)).result
}

/** {@link dispatchFromHost}, with the refusal as a `SallyportError`. Its message holds no value of the event. */
export async function dispatchOrThrow(
  event: unknown,
  options: DispatchCallOptions,
  deps: DispatchDeps,
): Promise<DispatchAnswer> {
  const { result, ...fault } = await dispatched(event, options, deps)
  if (result.ok) return result.body
  const { code, detail, status, errors } = result.body
  const places = errors ? ` (${listErrors(errors)})` : ''
  const summary = `The dispatch was refused as ${code}: ${detail}${places}`
  throw new SallyportError(code, summary, [], { status, errors, ...fault })
}

interface Dispatched {
  readonly result: HandlerResult<DispatchAnswer>
  /** The error of a port. */
  readonly cause?: unknown
}

async function dispatched(event: unknown, options: DispatchCallOptions, deps: DispatchDeps): Promise<Dispatched> {
  const callDeps = forHostCall(deps)
  const outcome = await refusing(() => {
    const fault = faultOf(event, options)
    if (fault !== undefined) return refuse('validation_failed', fault)
    const { tenant = 'default', idempotencyKey, delayMs, store = deps.store } = options
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    return planAndAccept(hostPrincipal(tenant), { headers, body: event }, { ...callDeps, store }, { delayMs })
  })
  // Only a request with `dryRun` gets a preview.
  const result = (isRefused(outcome) ? answerRefusal(outcome, callDeps) : outcome) as HandlerResult<DispatchAnswer>
  // A fault is logged as `request.failed`.
  if (!result.ok && result.status < 500) logRefused(event, result.body, deps)
  return { result, ...(isRefused(outcome) && 'cause' in outcome && { cause: outcome.cause }) }
}

function logRefused(event: unknown, problem: Problem, { logger, events }: DispatchDeps): void {
  const { eventType } = Object(event)
  // Another text may be anything, such as an address.
  const known = typeof eventType === 'string' && events.find(eventType) !== undefined
  // The answer to a caller has only near names.
  const hasNear = problem.code !== 'event_unknown' || problem.detail.includes('Near:')
  const detail = hasNear ? problem.detail : `${problem.detail} ${listEvents(events.eventTypes)}`
  logger.log('warn', 'dispatch.refused', { ...(known && { eventType }), ...loggedProblem({ ...problem, detail }) })
}

const MAX_LISTED = 20

function listEvents(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ', …' : ''
  return `The events are: ${names.slice(0, MAX_LISTED).join(', ')}${more}.`
}

const EVENT = 'must be the whole event: { eventType, recipient, eventData? }'

/** A name in another form may be data, if the arguments are in the wrong order. */
const OPTION = /^[A-Za-z]{1,24}$/

function faultOf(event: unknown, options: object): string | undefined {
  // Without an event, the second argument may be its data.
  if (!isRecord(event)) return `The first argument is ${kindOf(event)}; ${EVENT}.`
  const problems = [...problemsIn(options, CHECKS)]
  // `{ store: undefined }` is a mistake: its event must not be accepted outside the host's transaction.
  if (options && Object.hasOwn(options, 'store') && Reflect.get(options, 'store') === undefined) {
    problems.push({
      field: 'store',
      detail: 'is undefined; pass what store.within(transaction) returned, or leave it out',
    })
  }
  if (problems.length === 0) return undefined
  return `${problems.map(({ field, detail }) => `${argumentName(field)} ${detail}`).join('; ')}.`
}

function argumentName(field: string | undefined): string {
  if (field === undefined) return 'the second argument'
  return OPTION.test(field) ? field : 'a name'
}

import type { Issue } from '../../../errors.ts'
import type { DispatchRequest } from '../../../model/dispatch.ts'
import type { JsonObject } from '../../../model/json.ts'
import { withTimeout } from '../../../model/time-out.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LogFields } from '../../../ports/logger.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import { type ErrorOperation, type FaultDeps, reportFault } from '../../answers/report-fault.ts'
import type { HandlerResult } from '../../answers/result.ts'
import type { RunEvents, RunEventTarget } from './run-events.ts'

/** One event that is to be told of a run. */
export interface PendingEvent {
  readonly event: keyof RunEvents
  /** What is dispatched under it is dispatched once: the key is kept for 366 days. */
  readonly key: string
  /** What it says, where the host does not. */
  readonly data: object
  /** Asks the host whom it tells. */
  readonly ask: () => RunEventTarget | undefined | Promise<RunEventTarget | undefined>
}

/** What telling one event needs. */
export interface PublishDeps extends FaultDeps {
  readonly clock: Clock
  /** Dispatches an event as the host does; of any number with one key within 366 days, one is dispatched. */
  readonly dispatch: (tenant: string, request: DispatchRequest, key: string) => Promise<HandlerResult<unknown>>
}

/** For the host, and for what dispatching asks. What comes of it later is not lost, nor doubled: its key lets it through once. */
const PATIENCE_MS = 10_000

/** Gives whether nothing is left to do: it was dispatched, nobody is to be told, or it was refused for good. Never throws. */
export async function publishInTime(telling: PendingEvent, run: StoredRun, deps: PublishDeps): Promise<boolean> {
  const { event } = telling
  try {
    return await withTimeout(tell(telling, run, deps), {
      ms: PATIENCE_MS,
      clock: deps.clock,
      fallback: () => leavePending(event, run, { cause: 'no answer in time' }, deps),
    })
  } catch (cause) {
    return leavePendingBy(cause, 'run_event', event, run, deps)
  }
}

async function tell({ event, key, data, ask }: PendingEvent, run: StoredRun, deps: PublishDeps): Promise<boolean> {
  const target = await ask()
  if (target === undefined || target === null) return true
  // A host without types may say anything.
  if (typeof target.recipient !== 'string') return refused(event, run, { code: 'target_invalid' }, deps)
  const { recipient, eventData: reported = data, channel } = target
  const { sessionId } = run.state
  // Whether it is JSON is looked at with the rest of the request.
  const eventData = reported as JsonObject
  const request = { eventType: event, recipient, eventData, sessionId, ...(channel !== undefined && { channel }) }
  const answer = await deps.dispatch(run.tenant, request, key)
  if (answer.ok) return true
  const { code, errors } = answer.body
  if (answer.status >= 500) return leavePending(event, run, { code }, deps)
  return refused(event, run, { code, ...(errors && { errors: listed(errors) }) }, deps)
}

/** So many faults are logged, with so much of where each is. */
const MAX_ERRORS = 10
const MAX_POINTER = 200

/** Where what is wrong, and no value: `/eventData/x required, /eventData/y/… invalid`. */
function listed(errors: readonly Issue[]): string {
  const places = errors.slice(0, MAX_ERRORS).map(({ pointer, code }) => `${placeOf(pointer)} ${code}`)
  return places.join(', ')
}

/** Down to what the host calls it: keys below that may be anybody's words, such as those of a run's metadata. */
function placeOf(pointer: string): string {
  const [root, first, second, ...descendants] = pointer.split('/')
  if (second === undefined) return pointer.slice(0, MAX_POINTER)
  return `${root}/${first}/${second.slice(0, MAX_POINTER)}${descendants.length > 0 ? '/…' : ''}`
}

/** It is given up. */
function refused(event: keyof RunEvents, { state }: StoredRun, why: LogFields, { logger }: PublishDeps): true {
  logger.log('error', 'run_event.refused', { eventType: event, runId: state.runId, ...why })
  return true
}

/** It is tried again. */
function leavePending(event: keyof RunEvents, { state }: StoredRun, why: LogFields, { logger }: FaultDeps): false {
  logger.log('error', 'run_event.failed', { eventType: event, runId: state.runId, ...why })
  return false
}

/** It is tried again: something threw. */
export function leavePendingBy(
  cause: unknown,
  operation: ErrorOperation,
  eventType: keyof RunEvents,
  { state }: StoredRun,
  deps: FaultDeps,
): false {
  const line = { level: 'error', event: 'run_event.failed' } as const
  reportFault(cause, { operation, eventType, runId: state.runId }, line, deps)
  return false
}

import type { Issue } from '../../../errors.ts'
import { dayOf } from '../../../model/day.ts'
import type { DispatchRequest } from '../../../model/dispatch.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { EndStatus, RunSignal } from '../../../model/run.ts'
import { facetsOf } from '../../../model/run-facets.ts'
import { MAX_RUNS_ABOVE } from '../../../model/run-tree-limit.ts'
import { sha256 } from '../../../model/sha256.ts'
import { withTimeout } from '../../../model/time-out.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LogFields } from '../../../ports/logger.ts'
import type { RunStore, StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { type ErrorOperation, type FaultDeps, reportFault } from '../../answers/report-fault.ts'
import type { HandlerResult } from '../../answers/result.ts'
import { viewRun } from '../merge/selectors.ts'
import { type Budget, type BudgetQuestion, type BudgetState, checkBudgets, isReached } from './budgets.ts'
import type { RunEvents, RunEventTarget } from './run-events.ts'

/** What {@link publishSignal} needs. */
export interface SignalDeps extends FaultDeps {
  readonly clock: Clock
  /** Dispatches an event as the host does; an idempotency key is dispatched once within 366 days. */
  readonly dispatch: (tenant: string, request: DispatchRequest, key: string) => Promise<HandlerResult<unknown>>
  readonly events: RunEvents
  readonly budgets: readonly Budget[]
  readonly store: Pick<RunStore, 'findRun' | 'findSession' | 'findSpend'>
}

/** Publishes the events of a pending signal. Gives whether nothing is left to do. Never throws. */
export async function publishSignal(run: StoredRun, signal: RunSignal, deps: SignalDeps): Promise<boolean> {
  if (signal !== 'budget') return publishInTime(endEvent(run, signal, deps), run, deps)
  try {
    const events = await budgetEvents(run, deps)
    const done = await Promise.all(events.map((event) => publishInTime(event, run, deps)))
    return done.every(Boolean)
  } catch (cause) {
    return leavePendingBy(cause, 'store', 'budget.exceeded', run, deps)
  }
}

function endEvent(stored: StoredRun, end: EndStatus, { events }: SignalDeps): PendingEvent {
  const event = `run.${end}` as const
  const { tenant } = stored
  const run = viewRun(stored)
  // A run that was removed and recorded again is another run, with events of its own.
  const key = `${event} ${run.runId} ${stored.createdAt}`
  return { event, key, data: { run }, ask: () => events[event]?.({ tenant, run }) }
}

/** One event for every reached limit, so that the events do not depend on the time of the check. */
async function budgetEvents(run: StoredRun, deps: SignalDeps): Promise<readonly PendingEvent[]> {
  const { budgets, clock, store } = deps
  const now = clock.now()
  const users = await usersOf(run, store)
  // Read once, so that its totals and its creation time belong to the same session.
  const session = budgets.some(({ per }) => per === 'session')
    ? await store.findSession(run.tenant, run.state.sessionId)
    : undefined
  const sums: Parameters<typeof checkBudgets>[3] = {
    findSession: async () => session,
    findSpend: (...args) => store.findSpend(...args),
  }
  const questions: BudgetQuestion[] = [{ sessionId: run.state.sessionId }, ...users.map((userId) => ({ userId }))]
  const reports = await Promise.all(
    questions.map((question) => checkBudgets(budgets, { ...question, tenant: run.tenant }, now, sums)),
  )
  const reached = reports.flatMap((report) => report.budgets.flatMap(reachedLimits))
  return Promise.all(reached.map((budget) => budgetEvent(run, budget, { session, today: dayOf(now) }, deps)))
}

/** The users whose spend a run adds to: those that the run or one of its ancestors names. */
async function usersOf(run: StoredRun, store: SignalDeps['store']): Promise<readonly string[]> {
  const { tenant } = run
  const { sessionId } = run.state
  const users = new Set<string>()
  let at: StoredRun | undefined = run
  for (let ancestors = 0; at?.state.sessionId === sessionId && ancestors <= MAX_RUNS_ABOVE; ancestors++) {
    const { userId, parentRunId } = facetsOf(at.state)
    if (userId !== undefined) users.add(userId)
    at = parentRunId === undefined || at.derived.top ? undefined : await store.findRun(tenant, parentRunId)
  }
  return [...users]
}

function reachedLimits(budget: BudgetState): readonly BudgetState[] {
  const { soft, hard, spent } = budget
  const reached: BudgetState[] = []
  if (isReached(soft, spent)) reached.push({ ...budget, level: 'soft' })
  if (isReached(hard, spent)) reached.push({ ...budget, level: 'hard' })
  return reached
}

/** The span within which a reached limit is published once. */
interface BudgetSpan {
  readonly session: StoredSession | undefined
  readonly today: number
}

/**
 * A budget of some days is published at most once a day. A session that was erased and used again is another session. A budget
 * without days is published again only when its key expires, after 366 days.
 */
async function budgetEvent(
  stored: StoredRun,
  budget: BudgetState,
  { session, today }: BudgetSpan,
  { events, budgets }: SignalDeps,
): Promise<PendingEvent> {
  const event = 'budget.exceeded'
  const { tenant } = stored
  const { name, level, per, id } = budget
  const hasDays = budgets.some((each) => each.name === name && each.days !== undefined)
  const run = viewRun(stored)
  const span = per === 'session' ? session?.createdAt : hasDays ? today : 'ever'
  // No part of the key holds a space.
  const key = `${event} ${name} ${level} ${per} ${await sha256(id)} ${span}`
  return { event, key, data: { budget, run }, ask: () => events[event]?.({ tenant, run, budget }) }
}

/** One event that is to be published. */
interface PendingEvent {
  readonly event: keyof RunEvents
  /** Idempotency key, kept for 366 days. */
  readonly key: string
  /** Event data, unless the host gives its own. */
  readonly data: object
  /** Asks the host for the recipient. */
  readonly ask: () => RunEventTarget | undefined | Promise<RunEventTarget | undefined>
}

/** Time-out of one event. An event that is dispatched later is neither lost nor doubled: its key is dispatched once. */
const TIMEOUT_MS = 10_000

/** Publishes an event. Gives whether nothing is left to do: dispatched, without recipient, or refused for good. Never throws. */
async function publishInTime(pending: PendingEvent, run: StoredRun, deps: SignalDeps): Promise<boolean> {
  const { event } = pending
  try {
    return await withTimeout(publish(pending, run, deps), {
      ms: TIMEOUT_MS,
      clock: deps.clock,
      fallback: () => leavePending(event, run, { cause: 'no answer in time' }, deps),
    })
  } catch (cause) {
    return leavePendingBy(cause, 'run_event', event, run, deps)
  }
}

async function publish({ event, key, data, ask }: PendingEvent, run: StoredRun, deps: SignalDeps): Promise<boolean> {
  const target = await ask()
  if (target === undefined || target === null) return true
  // Host code without types may give anything.
  if (typeof target.recipient !== 'string') return refused(event, run, { code: 'target_invalid' }, deps)
  const { recipient, channel } = target
  const { sessionId } = run.state
  // `dispatch` checks that it is JSON.
  const eventData = (target.eventData ?? data) as JsonObject
  const request = { eventType: event, recipient, eventData, sessionId, ...(channel !== undefined && { channel }) }
  const answer = await deps.dispatch(run.tenant, request, key)
  if (answer.ok) return true
  const { code, errors } = answer.body
  if (answer.status >= 500) return leavePending(event, run, { code }, deps)
  return refused(event, run, { code, ...(errors && { errors: listed(errors) }) }, deps)
}

/** Limits of a log line: faults, and characters of each pointer. */
const MAX_ERRORS = 10
const MAX_POINTER = 200

/** Lists places and codes without values: `/eventData/x required, /eventData/y/… invalid`. */
function listed(errors: readonly Issue[]): string {
  const places = errors.slice(0, MAX_ERRORS).map(({ pointer, code }) => `${placeOf(pointer)} ${code}`)
  return places.join(', ')
}

/** Cuts a pointer to the names that the host chose: deeper keys may be private, such as those of a run's metadata. */
function placeOf(pointer: string): string {
  const [root, first, second, ...descendants] = pointer.split('/')
  if (second === undefined) return pointer.slice(0, MAX_POINTER)
  return `${root}/${first}/${second.slice(0, MAX_POINTER)}${descendants.length > 0 ? '/…' : ''}`
}

/** Logs an event that will not be tried again. */
function refused(event: keyof RunEvents, { state }: StoredRun, why: LogFields, { logger }: FaultDeps): true {
  logger.log('error', 'run_event.refused', { eventType: event, runId: state.runId, ...why })
  return true
}

/** Logs an event that stays pending. */
function leavePending(event: keyof RunEvents, { state }: StoredRun, why: LogFields, { logger }: FaultDeps): false {
  logger.log('error', 'run_event.failed', { eventType: event, runId: state.runId, ...why })
  return false
}

/** Reports an error; the event stays pending. */
function leavePendingBy(
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

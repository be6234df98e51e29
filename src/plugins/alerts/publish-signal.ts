import { loggedProblem } from '../../core/answers/logged-problem.ts'
import type { ErrorOperation } from '../../core/answers/report-fault.ts'
import type { CausedBy } from '../../core/dispatch/caller.ts'
import { agentUser, applicationUser, viewRun } from '../../core/runs/merge/selectors.ts'
import type { BudgetState } from '../../model/budget.ts'
import { dayOf } from '../../model/day.ts'
import type { JsonObject } from '../../model/json.ts'
import { LONGEST_TOKEN_MS } from '../../model/principal.ts'
import type { ReportedEnd } from '../../model/run.ts'
import { sourceOfEnd } from '../../model/run-status.ts'
import { MAX_ANCESTORS } from '../../model/run-tree-limit.ts'
import { sha256 } from '../../model/sha256.ts'
import { withTimeout } from '../../model/time-out.ts'
import { wrongReturn } from '../../options/wrong-return.ts'
import type { LogFields } from '../../ports/logger.ts'
import type { RunStore, StoredRun, StoredSession } from '../../ports/run-store.ts'
import type { PluginCore } from '../plugin.ts'
import { type Budget, type BudgetQuestion, checkBudgets, isReached } from './budgets.ts'
import { type AlertSignal, eventOf, type RunEvents, type RunEventTarget } from './run-events.ts'

export interface SignalDeps extends Pick<PluginCore, 'clock' | 'logger' | 'report'> {
  readonly dispatch: NonNullable<PluginCore['dispatch']>
  readonly events: RunEvents
  readonly budgets: readonly Budget[]
  readonly store: Pick<RunStore, 'findRun' | 'findSession' | 'findSpend'>
}

/** Publishes the events of a pending signal. Returns true if no work is left. Never throws. */
export async function publishSignal(run: StoredRun, signal: AlertSignal, deps: SignalDeps): Promise<boolean> {
  if (signal !== 'budget') return publishInTime(endEvent(run, signal, deps), run, deps)
  try {
    const events = await budgetEvents(run, deps)
    const done = await Promise.all(events.map((event) => publishInTime(event, run, deps)))
    return done.every(Boolean)
  } catch (cause) {
    return leavePendingBy(cause, 'store', 'budget.exceeded', run, deps)
  }
}

function endEvent(stored: StoredRun, end: ReportedEnd, { events }: SignalDeps): PendingEvent {
  const event = eventOf(end)
  const { tenant } = stored
  const run = viewRun(stored)
  // A run id contains no space. A run that was removed and recorded again is another run, with its own events.
  const key = `run.${end} ${run.sessionId} ${run.runId} ${stored.createdAt}`
  const causedBy = causeOf(stored, end)
  return { event, key, data: { run }, ask: () => events[event]?.({ tenant, run }), ...(causedBy && { causedBy }) }
}

/** The session whose agent reported an end, with a counter for its token and for each parent. */
function causeOf({ state: { sessionId }, derived }: StoredRun, end: ReportedEnd): CausedBy | undefined {
  if (sourceOfEnd(end) === 'application') return undefined
  const limits = derived.eventLimits?.[end] ?? []
  const windowMs = LONGEST_TOKEN_MS
  return {
    sessionId,
    quotas: limits.map(({ tokenId, max }) => ({ key: `run-events ${sessionId} ${tokenId}`, max, windowMs })),
  }
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

/**
 * Users whose spend includes a run: an agent's own user, and the users that applications name in the run and its ancestors, along
 * the parents that applications name.
 */
async function usersOf(run: StoredRun, store: SignalDeps['store']): Promise<readonly string[]> {
  const { tenant } = run
  const { sessionId } = run.state
  const users = new Set<string>()
  const own = agentUser(run.state)
  if (own !== undefined) users.add(own)
  let at: StoredRun | undefined = run
  for (let ancestors = 0; at !== undefined && ancestors <= MAX_ANCESTORS; ancestors++) {
    const userId = applicationUser(at.state)
    if (userId !== undefined) users.add(userId)
    const parentRunId: string | undefined = at.state.application?.parentRunId
    if (parentRunId === undefined || at.derived.top === true) break
    at = await store.findRun({ tenant, sessionId, runId: parentRunId })
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

/** Span within which a reached limit is published once. */
interface BudgetSpan {
  readonly session: StoredSession | undefined
  readonly today: number
}

/** A budget with days is published at most once a day. An erased session that is used again is another session. */
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
  // No part of the key contains a space.
  const key = `${event} ${name} ${level} ${per} ${await sha256(id)} ${span}`
  return { event, key, data: { budget, run }, ask: () => events[event]?.({ tenant, run, budget }) }
}

interface PendingEvent {
  readonly event: keyof RunEvents
  /** Idempotency key, kept for 366 days. */
  readonly key: string
  readonly data: object
  /** Absent: an application caused it, or a budget. */
  readonly causedBy?: CausedBy
  readonly ask: () => RunEventTarget | undefined | Promise<RunEventTarget | undefined>
}

const TARGET = '{ recipient, eventData?, channel? }, or undefined if no one is to be told'

/** Time-out of one event. A later dispatch is neither lost nor repeated: its key is dispatched once. */
const TIMEOUT_MS = 10_000

/** Publishes an event. Returns true if no work is left: dispatched, without recipient, or refused permanently. Never throws. */
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

async function publish(pending: PendingEvent, run: StoredRun, deps: SignalDeps): Promise<boolean> {
  const { event, key, data, causedBy, ask } = pending
  if (causedBy?.quotas.some(({ max }) => max === 0)) return refused(event, run, { code: 'grant_spent' }, deps)
  const target = await ask()
  if (target === undefined || target === null) return true
  // Host code without types may return any value.
  if (typeof target.recipient !== 'string') {
    const { message: detail } = wrongReturn(`runEvents['${event}']`, target, TARGET)
    return refused(event, run, { code: 'target_invalid', detail }, deps)
  }
  const { recipient, channel } = target
  const { sessionId } = run.state
  // `dispatch` checks that it is JSON.
  const eventData = (target.eventData ?? data) as JsonObject
  const request = { eventType: event, recipient, eventData, sessionId, ...(channel !== undefined && { channel }) }
  const answer = await deps.dispatch(run.tenant, request, { key, causedBy })
  if (answer.ok) return true
  // A fault is logged as `request.failed`.
  if (answer.status >= 500) return leavePending(event, run, { code: answer.body.code }, deps)
  return refused(event, run, loggedProblem(answer.body), deps)
}

function refused(event: keyof RunEvents, run: StoredRun, why: LogFields, { logger }: SignalDeps): true {
  logger.log('error', 'run_event.refused', { eventType: event, runId: run.state.runId, ...why })
  return true
}

function leavePending(event: keyof RunEvents, run: StoredRun, why: LogFields, { logger }: SignalDeps): false {
  logger.log('error', 'run_event.failed', { eventType: event, runId: run.state.runId, ...why })
  return false
}

function leavePendingBy(
  cause: unknown,
  operation: ErrorOperation,
  eventType: keyof RunEvents,
  run: StoredRun,
  deps: SignalDeps,
): false {
  const line = { level: 'error', event: 'run_event.failed' } as const
  deps.report(cause, { operation, eventType, runId: run.state.runId }, line)
  return false
}

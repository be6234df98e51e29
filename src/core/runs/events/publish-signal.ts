import { dayOf } from '../../../model/day.ts'
import type { EndStatus, RunSignal } from '../../../model/run.ts'
import { facetsOf } from '../../../model/run-facets.ts'
import { MAX_RUNS_ABOVE } from '../../../model/run-tree-limit.ts'
import { sha256 } from '../../../model/sha256.ts'
import type { RunStore, StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { viewRun } from '../run-view.ts'
import { type Budget, type BudgetQuestion, type BudgetState, checkBudgets, isReached } from './budgets.ts'
import { leavePendingBy, type PendingEvent, type PublishDeps, publishInTime } from './run-event-outbox.ts'
import type { RunEvents } from './run-events.ts'

/** What telling of a signal needs. */
export interface SignalDeps extends PublishDeps {
  readonly events: RunEvents
  readonly budgets: readonly Budget[]
  readonly store: Pick<RunStore, 'findRun' | 'findSession' | 'findSpend'>
}

/** Gives whether nothing is left to do. Never throws. */
export async function publishSignal(run: StoredRun, signal: RunSignal, deps: SignalDeps): Promise<boolean> {
  if (signal !== 'budget') return publishInTime(endEvent(run, signal, deps), run, deps)
  try {
    const publishing = await budgetEvents(run, deps)
    const done = await Promise.all(publishing.map((telling) => publishInTime(telling, run, deps)))
    return done.every(Boolean)
  } catch (cause) {
    return leavePendingBy(cause, 'store', 'budget.exceeded', run, deps)
  }
}

function endEvent(stored: StoredRun, end: EndStatus, { events }: SignalDeps): PendingEvent {
  const event = `run.${end}` as const
  const { tenant } = stored
  const run = viewRun(stored)
  // A run that was removed and is recorded anew is another one, and told of again.
  const key = `${event} ${run.runId} ${stored.createdAt}`
  return { event, key, data: { run }, ask: () => events[event]?.({ tenant, run }) }
}

/** One for every limit that is reached, so that it does not depend on when somebody looks. */
async function budgetEvents(run: StoredRun, deps: SignalDeps): Promise<readonly PendingEvent[]> {
  const { budgets, clock, store } = deps
  const now = clock.now()
  const users = await usersOf(run, store)
  // It is read once, so that its numbers and its beginning are of the same session.
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

/** What a run spends is spent for a user that it names, or one that a run above it names. */
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

/** What a reached limit is told once for. */
interface BudgetSpan {
  readonly session: StoredSession | undefined
  readonly today: number
}

/**
 * What was spent in so many days comes and goes: it is told once a day at most. A session that was erased and is used again is
 * another one. What is spent for ever is told again no sooner than its key is forgotten, after 366 days.
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
  const comesAndGoes = budgets.some((each) => each.name === name && each.days !== undefined)
  const run = viewRun(stored)
  const span = per === 'session' ? session?.createdAt : comesAndGoes ? today : 'ever'
  // No part of the key holds a space.
  const key = `${event} ${name} ${level} ${per} ${await sha256(id)} ${span}`
  return { event, key, data: { budget, run }, ask: () => events[event]?.({ tenant, run, budget }) }
}

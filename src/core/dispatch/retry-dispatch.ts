import type { DispatchHead } from '../../model/dispatch.ts'
import type { UnplannedDelivery } from '../../model/dispatch-results.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type {
  DispatchChange,
  DispatchStore,
  NewDelivery,
  ReplanOutcome,
  RetryRequest,
} from '../../ports/dispatch-store.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import type { Replannable } from '../../ports/plan-source.ts'
import { type EventFault, refusalOf, reportEventFaults } from '../answers/fault.ts'
import { type FaultDeps, logFailure, reportFault } from '../answers/report-fault.ts'
import { boundedIssues, isRefused, type Refused, refuse } from '../answers/result.ts'
import { type HookDeps, reportDelivery } from '../hooks.ts'
import { measureChanges } from '../measure.ts'
import { wakeFor } from '../wake.ts'
import { logFailed, newDeliveries } from './accept-dispatch.ts'
import type { Plan, PlannedDelivery } from './plan/plan-dispatch.ts'
import { type PlanningDeps, planRequest, unknownEvent } from './plan/plan-request.ts'

export interface RetryDeps extends PlanningDeps, Omit<FaultDeps, 'hooks'>, HookDeps {
  readonly events: EventCatalog
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly store: DispatchStore
  readonly queue: DeliveryQueue
  /** Receives work that continues after a retry, so that a host can wait for it. It never rejects. Default: not awaited. */
  readonly background?: ((work: Promise<void>) => void) | undefined
}

export interface Retried extends DispatchChange {
  readonly unplanned: readonly UnplannedDelivery[]
}

interface PlannedAgain {
  readonly deliveries: readonly NewDelivery[]
  readonly unplanned: readonly UnplannedDelivery[]
}

type Failed = Replannable['failed'][number]

/** Each conflict means that another retry replaced some deliveries, so fewer remain. */
const MAX_TRIES = 10
const NOTHING: PlannedAgain = { deliveries: [], unplanned: [] }

/** Queues failed deliveries that can be sent, and plans those again that failed in host code, in one compare-and-set. */
export async function retryDispatch(
  tenant: string,
  dispatchId: string,
  options: RetryRequest,
  deps: RetryDeps,
): Promise<Retried | undefined> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const found = await deps.store.findReplannable(tenant, dispatchId)
    const failed = found?.failed.filter(({ channel }) => options.channel === undefined || options.channel === channel)
    const { deliveries, unplanned } = found && failed?.length ? await planAgain(found, failed, deps) : NOTHING
    const change = await storePlanned(tenant, dispatchId, options, found?.version, deliveries, deps.store)
    if (change?.outcome === 'conflict') continue
    if (!change) return undefined
    const { changed, dispatch } = change
    wakeFor(changed, deliveries, deps)
    measureChanges(changed, dispatch, deps)
    deps.background?.(reportAll(changed, dispatch, deps))
    return { changed, dispatch, unplanned }
  }
  throw new Error(`Others planned the dispatch again ${MAX_TRIES} times meanwhile.`)
}

/** @param version Absent: no delivery failed in host code. */
async function storePlanned(
  tenant: string,
  dispatchId: string,
  options: RetryRequest,
  version: number | undefined,
  deliveries: readonly NewDelivery[],
  store: DispatchStore,
): Promise<ReplanOutcome | undefined> {
  if (version !== undefined && deliveries.length > 0) {
    return store.replan(tenant, dispatchId, version, deliveries, options)
  }
  const change = await store.retry(tenant, dispatchId, options)
  return change && { outcome: 'replanned', ...change }
}

async function reportAll(changed: DispatchChange['changed'], head: DispatchHead, deps: RetryDeps): Promise<void> {
  if (deps.hooks) for (const change of changed) await reportDelivery(change, head, deps)
}

/** Plans deliveries as if their event were accepted now, with the original data and route. Logs each failure and refusal. */
async function planAgain(replannable: Replannable, failed: readonly Failed[], deps: RetryDeps): Promise<PlannedAgain> {
  const { dispatch, source } = replannable
  const refuseAll = (refused: Refused, all: readonly Failed[]) => unplannedOf(refused, all, dispatch, deps)
  const found = deps.events.find(dispatch.eventType)
  if (!found) {
    return { deliveries: [], unplanned: refuseAll(unknownEvent(dispatch.eventType, deps.events, undefined), failed) }
  }
  const event = narrowed(found, failed, replannable)
  const hasChannel = ({ channel }: Failed): boolean => event.channels.some((entry) => entry.channel === channel)
  const lost = refuseAll(
    CHANNEL_GONE,
    failed.filter((one) => !hasChannel(one)),
  )
  const left = failed.filter(hasChannel)
  if (left.length === 0) return { deliveries: [], unplanned: lost }
  const plan = await planOrRefuse(event, replannable, deps)
  if (isRefused(plan)) return { deliveries: [], unplanned: [...lost, ...refuseAll(plan, left)] }
  logFailed(plan, dispatch, deps)
  const idOf = (channel: string): string => left.find((one) => one.channel === channel)?.deliveryId ?? ''
  const deliveries = plan.deliveries.filter(({ status }) => status !== 'failed')
  return {
    deliveries: newDeliveries({ ...plan, deliveries }, event, source, idOf),
    unplanned: [...lost, ...plan.deliveries.flatMap((planned) => failedAgain(planned, idOf))],
  }
}

const CHANNEL_GONE = refuse('channel_not_allowed', 'The event has no such channel any longer.')

/** Keeps only these channels and the route of the dispatch. The route `first` allows no digest. */
function narrowed(
  { digest, ...event }: CatalogEvent,
  failed: readonly Failed[],
  { dispatch: { route } }: Replannable,
): CatalogEvent {
  const channels = event.channels.filter(({ channel }) => failed.some((one) => one.channel === channel))
  return { ...event, route, channels, ...(digest && route === 'all' && { digest }) }
}

/** Applies the rest of a delay, and keeps sandbox mode. */
async function planOrRefuse(
  event: CatalogEvent,
  { dispatch, source, waitedMs }: Replannable,
  deps: RetryDeps,
): Promise<Plan | Refused> {
  const { tenant, eventType, recipient, sandboxed = false } = dispatch
  const { eventData, session, delayMs = event.delayMs } = source
  const scope = { tenant, session, now: deps.clock.now(), delayMs: event.digest ? 0 : Math.max(0, delayMs - waitedMs) }
  const faults: EventFault[] = []
  try {
    return await planRequest(event, { eventType, recipient, eventData }, scope, { ...deps, sandbox: sandboxed }, faults)
  } catch (thrown) {
    return refusalOf(thrown)
  } finally {
    reportEventFaults(faults, { eventType, dispatchId: dispatch.dispatchId }, deps)
  }
}

function failedAgain(planned: PlannedDelivery, idOf: (channel: string) => string): readonly UnplannedDelivery[] {
  if (planned.status !== 'failed') return []
  const { channel, reason, detail } = planned
  return [{ deliveryId: idOf(channel), channel, code: reason, detail }]
}

function unplannedOf(
  refused: Refused,
  failed: readonly Failed[],
  { dispatchId, eventType }: Replannable['dispatch'],
  deps: RetryDeps,
): readonly UnplannedDelivery[] {
  const { refused: code, detail, errors, at } = refused
  for (const [index, { deliveryId, channel }] of failed.entries()) {
    const context = { operation: 'request', ...at, dispatchId, deliveryId, eventType, channel } as const
    const line = { level: 'warn', event: 'delivery.replan_refused', fields: { code, detail } } as const
    // The error happened once, for all these deliveries.
    if ('cause' in refused && index === 0) reportFault(refused.cause, context, line, deps)
    else logFailure(context, line, deps)
  }
  const problem = { code, detail, ...(errors && { errors: boundedIssues(errors) }) }
  return failed.map(({ deliveryId, channel }) => ({ deliveryId, channel, ...problem }))
}

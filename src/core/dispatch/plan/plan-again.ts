import type { Issue, ProblemCode } from '../../../errors.ts'
import type { DeliveryReason } from '../../../model/dispatch.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { NewDelivery } from '../../../ports/dispatch-store.ts'
import type { CatalogEvent, EventCatalog } from '../../../ports/event-catalog.ts'
import type { Replannable } from '../../../ports/plan-source.ts'
import { refusalOf } from '../../answers/fault.ts'
import { boundedIssues } from '../../answers/issue-list.ts'
import { type FaultDeps, reportFault } from '../../answers/report-fault.ts'
import { isRefused, type Refused, refuse } from '../../answers/result.ts'
import { type EventFault, reportEventFaults } from '../event-faults.ts'
import { logFailed } from '../handle-dispatch.ts'
import { newDeliveries } from './new-dispatch.ts'
import type { Plan, PlannedDelivery } from './plan-dispatch.ts'
import { type PlanningDeps, planRequest, unknownEvent } from './plan-request.ts'

/** The dependencies of planning again. */
export interface PlanAgainDeps extends PlanningDeps, FaultDeps {
  readonly events: EventCatalog
  readonly clock: Pick<Clock, 'now' | 'after'>
}

/** A delivery that failed in the host's own code, and that a retry could not plan again: it is as it was, and may be retried later. */
export interface UnplannedDelivery {
  readonly deliveryId: string
  readonly channel: string
  /**
   * Why it still fails (`template_error`, `condition_error`, `channel_error`), or the code with which its event would be refused
   * now: `event_unknown`, `validation_failed`, `recipient_unresolvable`, `directory_unavailable` and so on. With
   * `channel_not_allowed`, the event has no such channel any longer.
   */
  readonly code: ProblemCode | DeliveryReason
  readonly detail: string
  /** With pointers such as `/eventData/total`. */
  readonly errors?: readonly Issue[]
}

/** Deliveries that can replace those that failed, and those that cannot be planned. */
export interface PlannedAgain {
  readonly deliveries: readonly NewDelivery[]
  readonly unplanned: readonly UnplannedDelivery[]
}

type Failed = Replannable['failed'][number]

/**
 * Plans deliveries that failed in host code as if their event were accepted now: by the catalogue, the directory and the policy of
 * now, from its data as it was sent and on the route of its dispatch. What fails again or is refused is logged.
 *
 * @param failed Those of the dispatch that are wanted.
 */
export async function planAgain(
  replannable: Replannable,
  failed: readonly Failed[],
  deps: PlanAgainDeps,
): Promise<PlannedAgain> {
  const { dispatch, source } = replannable
  const found = deps.events.find(dispatch.eventType)
  if (!found) return unplanned(unknownEvent(dispatch.eventType, deps.events, undefined), failed, replannable, deps)
  const event = narrowed(found, failed, replannable)
  const has = ({ channel }: Failed): boolean => event.channels.some((entry) => entry.channel === channel)
  const gone = failed.filter((one) => !has(one))
  const lost = gone.length > 0 ? unplanned(CHANNEL_GONE, gone, replannable, deps).unplanned : []
  const left = failed.filter(has)
  if (left.length === 0) return { deliveries: [], unplanned: lost }
  const plan = await planOrRefuse(event, replannable, deps)
  if (isRefused(plan)) {
    return { deliveries: [], unplanned: [...lost, ...unplanned(plan, left, replannable, deps).unplanned] }
  }
  logFailed(plan, dispatch, deps)
  const idOf = (channel: string): string => left.find((one) => one.channel === channel)?.deliveryId ?? ''
  const deliveries = plan.deliveries.filter(({ status }) => status !== 'failed')
  return {
    deliveries: newDeliveries({ ...plan, deliveries }, event, source, idOf),
    unplanned: [...lost, ...plan.deliveries.flatMap((planned) => failedAgain(planned, idOf))],
  }
}

const CHANNEL_GONE = refuse('channel_not_allowed', 'The event has no such channel any longer.')

/** The event with these channels alone. Its route is that of the dispatch, and with the route `first` nothing is digested. */
function narrowed(
  { digest, ...event }: CatalogEvent,
  failed: readonly Failed[],
  { dispatch: { route } }: Replannable,
): CatalogEvent {
  const channels = event.channels.filter(({ channel }) => failed.some((one) => one.channel === channel))
  return { ...event, route, channels, ...(digest && route === 'all' && { digest }) }
}

/** What is left of a delay is waited for. A dispatch of sandbox mode stays one. */
async function planOrRefuse(
  event: CatalogEvent,
  { dispatch, source, waitedMs }: Replannable,
  deps: PlanAgainDeps,
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

function unplanned(
  { refused: code, detail, errors, cause, at }: Refused,
  failed: readonly Failed[],
  { dispatch: { dispatchId, eventType } }: Replannable,
  deps: PlanAgainDeps,
): PlannedAgain {
  for (const [index, { deliveryId, channel }] of failed.entries()) {
    const place = { dispatchId, deliveryId, eventType, channel }
    const line = { level: 'warn', event: 'delivery.replan_refused', fields: { code, detail } } as const
    // It happened once, whatever the number of deliveries that it concerns.
    reportFault(index === 0 ? cause : undefined, { operation: 'request', ...at, ...place }, line, deps)
  }
  const problem = { code, detail, ...(errors && { errors: boundedIssues(errors) }) }
  return { deliveries: [], unplanned: failed.map(({ deliveryId, channel }) => ({ deliveryId, channel, ...problem })) }
}

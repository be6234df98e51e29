import type { DispatchAnswer, DispatchHead, DispatchView } from '../../model/dispatch.ts'
import type { DeliveryChange } from '../../ports/dispatch-store.ts'
import type { LogFields } from '../../ports/logger.ts'
import { type ErrorHooks, type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { raceTimeout } from '../time-out.ts'

/** A dispatch that was stored. */
export interface AcceptedEvent extends DispatchView {
  readonly tenant: string
}

/** Which dispatch it is about. */
type EventHead = Pick<DispatchHead, 'dispatchId' | 'tenant' | 'eventType' | 'recipient' | 'sessionId' | 'sandboxed'>

/** A delivery that came to its end. */
export interface DeliveryEvent extends DeliveryChange, EventHead {
  /** The last code that the channel gave for not having sent. */
  readonly lastCode?: string
  readonly providerMessageId?: string
}

/** Takes one event; what it gives is waited for where {@link Hooks} says so, and otherwise passed over. */
export type Hook<Event> = (event: Event) => unknown
/** Those that are told of an event. */
type EventHook = Exclude<keyof Hooks, keyof ErrorHooks>
type AnyHooks = Readonly<Partial<Record<EventHook, Hook<unknown>>>>

/**
 * What a host is told as it happens, once it is stored. Called in the process that did it and at most once: a process that is
 * killed in between never calls, and nothing repeats it. To react to every one without fail, read `dispatches.list`. A digest is told of once, with the dispatch of its oldest event.
 *
 * What a hook throws, or rejects with, is logged and changes nothing. A worker waits for what a hook gives, at most ten seconds;
 * the answer to a caller does not.
 */
export interface Hooks extends ErrorHooks {
  /** A new dispatch; not for a replay, a refusal or a dry run. */
  readonly onAccepted?: Hook<AcceptedEvent>
  /** A provider took a delivery. */
  readonly onSent?: Hook<DeliveryEvent>
  /** A delivery is `failed` or `expired`: nothing more is tried. */
  readonly onFailed?: Hook<DeliveryEvent>
  /** A delivery is `skipped`, whether as it was accepted or later. */
  readonly onSkipped?: Hook<DeliveryEvent>
}

/** What telling needs. */
export interface HookDeps extends FaultDeps {
  readonly hooks?: Hooks | undefined
}

/** Tells of a dispatch that was accepted, and of those deliveries of it that came to their end by that. */
export async function reportAccepted(answer: DispatchAnswer, head: EventHead, deps: HookDeps): Promise<void> {
  await call('onAccepted', () => acceptedEvent(answer, head.tenant), placeOf(head), deps)
  for (const { deliveryId, channel, status, reason, attempts } of answer.deliveries) {
    await reportDelivery({ deliveryId, channel, status, attempts, ...(reason !== undefined && { reason }) }, head, deps)
  }
}

/** Tells of a delivery, if it came to its end. */
export async function reportDelivery(
  change: DeliveryChange & Pick<DeliveryEvent, 'lastCode' | 'providerMessageId'>,
  { dispatchId, tenant, eventType, recipient, sessionId, sandboxed }: EventHead,
  deps: HookDeps,
): Promise<void> {
  const hook = HOOK_OF[change.status]
  if (!deps.hooks || !hook) return
  const head = { dispatchId, tenant, eventType, recipient, ...(sessionId !== undefined && { sessionId }) }
  const place = { ...placeOf(head), deliveryId: change.deliveryId, channel: change.channel }
  await call(hook, () => ({ ...change, ...head, ...(sandboxed && { sandboxed }) }), place, deps)
}

const HOOK_OF: Partial<Record<DeliveryChange['status'], 'onSent' | 'onFailed' | 'onSkipped'>> = {
  sent: 'onSent',
  failed: 'onFailed',
  expired: 'onFailed',
  skipped: 'onSkipped',
}

const PATIENCE_MS = 10_000

/** A copy: what a hook does to it is nobody else's matter. */
function acceptedEvent(answer: DispatchAnswer, tenant: string): AcceptedEvent {
  const { duplicate, warnings, ...view } = structuredClone(answer)
  return { tenant, ...view }
}

function placeOf({ dispatchId, eventType }: Pick<DispatchHead, 'dispatchId' | 'eventType'>): {
  dispatchId: string
  eventType: string
} {
  return { dispatchId, eventType }
}

async function call<Name extends EventHook>(
  name: Name,
  event: () => Parameters<NonNullable<Hooks[Name]>>[0],
  place: Pick<LogFields, 'dispatchId' | 'eventType' | 'deliveryId' | 'channel'>,
  deps: HookDeps,
): Promise<void> {
  const { hooks, clock, logger } = deps
  try {
    const reported: unknown = (hooks as AnyHooks | undefined)?.[name]?.(event())
    if (typeof reported !== 'object' || reported === null || !('then' in reported)) return
    const inTime = await raceTimeout(Promise.resolve(reported), PATIENCE_MS, clock)
    if (!inTime) logger.log('warn', 'hook.slow', { hook: name, ...place })
  } catch (cause) {
    const line = { level: 'error', event: 'hook.threw', fields: { hook: name } } as const
    reportFault(cause, { operation: 'hook', ...place }, line, deps)
  }
}

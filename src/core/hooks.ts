import type { DispatchAnswer, DispatchHead, DispatchView } from '../model/dispatch.ts'
import type { DeliveryChange } from '../model/dispatch-results.ts'
import { withTimeout } from '../model/time-out.ts'
import type { LogFields } from '../ports/logger.ts'
import { type ErrorHooks, type FaultDeps, reportFault } from './answers/report-fault.ts'
import type { MeasureDeps } from './measure.ts'

/** An accepted, stored dispatch. */
export interface AcceptedEvent extends DispatchView {
  readonly tenant: string
}

type EventHead = Pick<DispatchHead, 'dispatchId' | 'tenant' | 'eventType' | 'recipient' | 'sessionId' | 'sandboxed'>

/** A delivery with a final status. */
export interface DeliveryEvent extends DeliveryChange, EventHead {
  /** The channel's last error code. */
  readonly lastCode?: string
  readonly providerMessageId?: string
}

/** Receives one event. A returned promise is awaited as {@link Hooks} defines; other results are ignored. */
export type Hook<Event> = (event: Event) => unknown
type EventHook = Exclude<keyof Hooks, keyof ErrorHooks>
type AnyHooks = Readonly<Partial<Record<EventHook, Hook<unknown>>>>

/**
 * Host functions that are called after a change is stored. Each is called at most once, in the process that made the change; if
 * that process is killed before, the call is lost. For a reliable reaction to every change, read `dispatches.list`. A digest is
 * reported once, with the dispatch of its oldest event.
 *
 * An error or a rejection of a hook is logged and has no other effect. A worker waits for the promise of a hook, at most ten
 * seconds; the answer to a caller does not wait.
 */
export interface Hooks extends ErrorHooks {
  /** A new dispatch. Not called for a replay, a refusal or a dry run. */
  readonly onAccepted?: Hook<AcceptedEvent>
  /** A provider accepted a delivery. */
  readonly onSent?: Hook<DeliveryEvent>
  /** A delivery is `failed` or `expired`: no further attempt follows. */
  readonly onFailed?: Hook<DeliveryEvent>
  /** A delivery is `skipped`, at acceptance or later. */
  readonly onSkipped?: Hook<DeliveryEvent>
}

export interface HookDeps extends FaultDeps, MeasureDeps {
  readonly hooks?: Hooks | undefined
}

/** Calls the hooks for an accepted dispatch, and for its deliveries that are already final. */
export async function reportAccepted(
  answer: DispatchAnswer,
  head: EventHead & Pick<DispatchHead, 'by'>,
  deps: HookDeps,
): Promise<void> {
  await call('onAccepted', () => acceptedEvent(answer, head), placeOf(head), deps)
  for (const { deliveryId, channel, status, reason, attempts } of answer.deliveries) {
    await reportDelivery({ deliveryId, channel, status, attempts, ...(reason !== undefined && { reason }) }, head, deps)
  }
}

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

const HOOK_TIMEOUT_MS = 10_000

/** A deep copy, which a hook may change. */
function acceptedEvent(answer: DispatchAnswer, { tenant, by }: Pick<DispatchHead, 'tenant' | 'by'>): AcceptedEvent {
  const { duplicate, warnings, ...view } = structuredClone(answer)
  return { tenant, by, ...view }
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
    const result: unknown = (hooks as AnyHooks | undefined)?.[name]?.(event())
    if (typeof result !== 'object' || result === null || !('then' in result)) return
    await withTimeout(Promise.resolve(result), {
      ms: HOOK_TIMEOUT_MS,
      clock,
      fallback: () => logger.log('warn', 'hook.slow', { hook: name, ...place }),
    })
  } catch (cause) {
    const line = { level: 'error', event: 'hook.threw', fields: { hook: name } } as const
    reportFault(cause, { operation: 'hook', ...place }, line, deps)
  }
}

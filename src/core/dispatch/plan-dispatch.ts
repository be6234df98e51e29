import type { Issue } from '../../errors.ts'
import type { ConditionTrace, Content, DeliveryReason } from '../../model/dispatch.ts'
import type { Recipient } from '../../model/recipient.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Decision } from '../../ports/condition-engine.ts'
import type { SendLimit, Verdict } from '../../ports/delivery-policy.ts'
import type { CatalogChannel, CatalogEvent, EventFacts } from '../../ports/event-catalog.ts'
import { pointerTo } from '../json-pointer.ts'
import { type Refused, refuse } from '../result.ts'
import { reachThrough } from './reach-through.ts'
import { renderFields } from './render-fields.ts'

/** What a plan says of a message that can be sent. */
interface PlannedMessage {
  readonly channel: string
  readonly address: string
  /** Of an event that is digested: what it would say if no other joined it. */
  readonly content: Content
}

/** What is to become of one channel. */
export type PlannedDelivery =
  | (PlannedMessage & {
      readonly status: 'queued' | 'held'
      /** How long after acceptance it is due, in milliseconds. Default: 0. */
      readonly delayMs?: number
      readonly limits?: readonly SendLimit[]
      /** What it is digested under. */
      readonly digestKey?: string
      readonly concurrencyKey?: string
    })
  | (Partial<PlannedMessage> & {
      readonly channel: string
      readonly status: 'skipped'
      readonly reason: DeliveryReason
      readonly trace?: readonly ConditionTrace[]
    })
  | { readonly channel: string; readonly status: 'failed'; readonly reason: DeliveryReason }

/** What is to become of an event, channel by channel. */
export interface Plan {
  readonly recipient: Recipient
  readonly deliveries: readonly PlannedDelivery[]
  readonly locale?: string
}

/** Everything that a plan follows from. */
export interface PlanInput {
  readonly event: CatalogEvent
  /** Those of the event's channels that are asked for. */
  readonly entries: readonly CatalogChannel[]
  readonly facts: EventFacts
  readonly channels: Readonly<Record<string, Channel>>
  /** What the policy says, entry by entry. Absent: send all. */
  readonly verdicts?: readonly Verdict[]
  /** When it is planned, epoch milliseconds. */
  readonly now: number
  /** How long after that it is to be sent, in milliseconds. */
  readonly delayMs: number
  /** Whether nothing may be sent. */
  readonly sandbox: boolean
}

/**
 * Decides what an event means for each of the given channels of it: conditions, address, policy, rendering, route. Pure: the
 * same input gives the same plan, and nothing is stored or sent. Refused when a template needs data that was not sent.
 */
export function planDispatch(input: PlanInput): Plan | Refused {
  const { event, entries, facts, verdicts, sandbox } = input
  const missing = new Map<string, Issue>()
  const gate = event.when?.(facts)
  const planned = entries.map((entry, index) => planChannel(entry, verdicts?.[index], gate, input, missing))
  if (missing.size > 0) {
    return refuse('template_data_missing', 'A template reads data that was not sent.', {
      errors: [...missing.values()],
    })
  }
  const routed = event.route === 'first' ? holdFallbacks(planned) : planned
  const { recipient } = facts
  const { locale } = recipient
  return { recipient, deliveries: sandbox ? routed.map(withheld) : routed, ...(locale !== undefined && { locale }) }
}

function planChannel(
  { channel: name, when, fields }: CatalogChannel,
  verdict: Verdict | undefined,
  gate: Decision | undefined,
  { event, facts, channels, now, delayMs: asked }: PlanInput,
  missing: Map<string, Issue>,
): PlannedDelivery {
  const decision = gate === undefined || gate.outcome === 'true' ? when?.(facts) : gate
  if (decision?.outcome === 'false') {
    return { channel: name, status: 'skipped', reason: 'condition_false', trace: decision.trace }
  }
  if (decision?.outcome === 'error') return { channel: name, status: 'failed', reason: 'condition_error' }
  const reach = reachThrough(channels[name], facts.recipient)
  if (reach.outcome === 'error') return { channel: name, status: 'failed', reason: 'channel_error' }
  if (reach.outcome === 'none') return { channel: name, status: 'skipped', reason: 'no_address' }
  if (verdict?.verdict === 'skip') return { channel: name, status: 'skipped', reason: verdict.reason }
  const { digest } = event
  const content = renderFields(fields, facts, (path) => noteMissing(path, missing), digest ? 'digest' : 'event')
  const digestKey = digest?.key(facts)
  if (!content || (digest && digestKey === undefined)) {
    return { channel: name, status: 'failed', reason: 'template_error' }
  }
  const deferredMs = verdict?.verdict === 'defer' ? Math.ceil(verdict.until - now) : 0
  const delayMs = Math.max(deferredMs, asked + (digest?.windowMs ?? 0))
  const { address, concurrencyKey } = reach
  return {
    channel: name,
    status: 'queued',
    address,
    content,
    ...(delayMs > 0 && { delayMs }),
    ...(verdict?.limits && verdict.limits.length > 0 && { limits: verdict.limits }),
    ...(digestKey !== undefined && { digestKey }),
    ...(concurrencyKey !== undefined && { concurrencyKey }),
  }
}

/** What the caller did not send is the caller's to mend; what the host does not know of a recipient is not. */
function noteMissing(path: string, missing: Map<string, Issue>): void {
  const [root, ...keys] = path.split('.')
  if (root === 'recipient' || missing.has(path)) return
  // Of a list of events only this one is known yet: `events.0.total` is its `/eventData/total`.
  const inData = root === 'data' ? keys : root === 'events' ? keys.slice(1) : []
  const pointer = inData.reduce(pointerTo, '/eventData')
  missing.set(path, { pointer, code: 'missing_template_data', detail: `a template reads ${path}` })
}

/** All but the first that can be sent wait for the one before to fail. */
function holdFallbacks(planned: readonly PlannedDelivery[]): readonly PlannedDelivery[] {
  const first = planned.findIndex(({ status }) => status === 'queued')
  return planned.map((delivery, index) => {
    if (delivery.status !== 'queued' || index <= first) return delivery
    const { delayMs, ...held } = delivery
    return { ...held, status: 'held' }
  })
}

/** In sandbox mode what would be sent is kept, address and content, and goes no further. */
function withheld(planned: PlannedDelivery): PlannedDelivery {
  if (planned.status !== 'queued' && planned.status !== 'held') return planned
  const { channel, address, content } = planned
  return { channel, status: 'skipped', reason: 'sandboxed', address, content }
}

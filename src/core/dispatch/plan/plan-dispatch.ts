import type { Issue } from '../../../errors.ts'
import { type Awaitable, isPromise } from '../../../model/awaitable.ts'
import type { ConditionTrace, Content, DeliveryReason } from '../../../model/dispatch.ts'
import { pointerTo } from '../../../model/json-pointer.ts'
import type { Recipient } from '../../../model/recipient.ts'
import type { StoredWait } from '../../../model/waiting.ts'
import type { Channel } from '../../../ports/channel.ts'
import type { Decision } from '../../../ports/condition-engine.ts'
import type { SendLimit, Verdict } from '../../../ports/delivery-policy.ts'
import type { CatalogChannel, CatalogEvent, EventFacts } from '../../../ports/event-catalog.ts'
import type { EventFault } from '../../answers/fault.ts'
import { isRefused, type Refused, refuse } from '../../answers/result.ts'
import { deferredFor } from '../../message/ask-policy.ts'
import { copiesOf } from '../../message/copies.ts'
import {
  type ContentFault,
  type RenderClock,
  type RenderedFields,
  type RenderTime,
  renderFields,
} from '../../message/render-fields.ts'
import { resolveAddress } from '../../message/resolve-recipient.ts'

/** A channel that ends before rendering. */
export type EndedChannel = { readonly channel: string } & (
  | {
      readonly status: 'skipped'
      readonly reason: DeliveryReason
      readonly trace?: readonly ConditionTrace[]
      /** The suppressed address, under which its suppressions are found. */
      readonly address?: string
    }
  /** `detail`: for the log and for dry runs. Quotes no event data. */
  | { readonly status: 'failed'; readonly reason: DeliveryReason; readonly detail: string }
)

/** A channel that reaches the recipient and whose conditions are true. */
export interface Candidate {
  readonly status: 'candidate'
  readonly channel: string
  readonly fields: CatalogChannel['fields']
  readonly address: string
  readonly concurrencyKey?: string
}

/**
 * Filters the channels of an event by the event's condition, their own, and whether they reach the recipient.
 *
 * @param faults Receives errors of host code.
 */
export function filterChannels(
  { when }: CatalogEvent,
  entries: readonly CatalogChannel[],
  facts: EventFacts,
  channels: Readonly<Record<string, Channel>>,
  faults: EventFault[],
): readonly (Candidate | EndedChannel)[] {
  const gate = when?.(facts)
  if (gate?.outcome === 'error') faults.push({ operation: 'condition', ...errorOf(gate) })
  return entries.map((entry) => filterChannel(entry, gate, facts, channels, faults))
}

function filterChannel(
  { channel, when, fields }: CatalogChannel,
  gate: Decision | undefined,
  facts: EventFacts,
  channels: Readonly<Record<string, Channel>>,
  faults: EventFault[],
): Candidate | EndedChannel {
  const decision = gate === undefined || gate.outcome === 'true' ? when?.(facts) : gate
  if (decision?.outcome === 'false') {
    return { channel, status: 'skipped', reason: 'condition_false', trace: decision.trace }
  }
  if (decision?.outcome === 'error') {
    if (decision !== gate) faults.push({ operation: 'condition', channel, ...errorOf(decision) })
    return { channel, status: 'failed', reason: 'condition_error', detail: decision.detail }
  }
  const reach = resolveAddress(channels[channel], facts.recipient)
  if (reach.outcome === 'error') {
    const fault = channelFault(channel, reach.cause)
    faults.push(fault)
    return { channel, status: 'failed', reason: 'channel_error', detail: fault.detail }
  }
  if (reach.outcome === 'none') return { channel, status: 'skipped', reason: 'no_address' }
  const { address, concurrencyKey } = reach
  return { status: 'candidate', channel, fields, address, ...(concurrencyKey !== undefined && { concurrencyKey }) }
}

export function channelFault(channel: string, cause: unknown): EventFault {
  return { operation: 'channel', channel, detail: 'the channel threw, or returned no address', cause }
}

function errorOf({
  detail,
  cause,
  isLibrary,
}: Extract<Decision, { outcome: 'error' }>): Pick<EventFault, 'detail' | 'cause' | 'isLibrary'> {
  return { detail, cause, isLibrary }
}

interface PlannedMessage {
  readonly channel: string
  readonly address: string
  /** For a digest: its content with this event alone. */
  readonly content: Content
}

export type PlannedDelivery =
  | EndedChannel
  | (PlannedMessage & { readonly status: 'skipped'; readonly reason: 'sandboxed' })
  | (PlannedMessage & {
      readonly status: 'queued' | 'held'
      /** Milliseconds from acceptance until it is due. Default: 0. */
      readonly delayMs?: number
      readonly waitsFor?: StoredWait
      readonly limits?: readonly SendLimit[]
      readonly digestKey?: string
      readonly concurrencyKey?: string
    })

export interface Plan {
  readonly recipient: Recipient
  readonly deliveries: readonly PlannedDelivery[]
  readonly locale?: string
}

export interface PlanInput {
  readonly event: CatalogEvent
  readonly facts: EventFacts
  readonly filtered: readonly (Candidate | EndedChannel)[]
  /** Verdicts on each candidate, in the order of `filtered`. Absent: send all. */
  readonly verdicts?: readonly (Verdict | undefined)[] | undefined
  readonly now: number
  /** Milliseconds from `now` until it is due. */
  readonly delayMs: number
  readonly sandbox: boolean
  readonly channels: Readonly<Record<string, Channel>>
  /** Refuses copies of a message. Absent: all are allowed. */
  readonly checkCopies?: ((copies: readonly string[]) => Refused | undefined) | undefined
  readonly clock: RenderClock
  readonly faults: EventFault[]
}

/** Plans each channel of an event: policy, rendering, route. Deterministic. Refuses when a template needs data that is missing. */
export async function planDispatch(input: PlanInput): Promise<Plan | Refused> {
  const { event, facts, filtered, verdicts, sandbox, clock } = input
  const time = { clock, since: clock.now() }
  // All fields of all channels begin before the first of them is awaited.
  const begun = filtered.map((one, index) =>
    one.status === 'candidate' ? beginChannel(one, verdicts?.[index], input, time) : one,
  )
  const missing = new Map<string, Issue>()
  const planned: PlannedDelivery[] = []
  for (const one of begun) {
    if (one.status !== 'begun') planned.push(one)
    else planned.push(planChannel(one, isPromise(one.rendering) ? await one.rendering : one.rendering, input, missing))
  }
  if (missing.size > 0) {
    return refuse('template_data_missing', 'A template reads data that was not sent.', {
      errors: [...missing.values()],
    })
  }
  const allowed = withAllowedCopies(planned, input)
  if (isRefused(allowed)) return allowed
  const routed = event.route === 'first' ? holdFallbacks(allowed) : allowed
  const { recipient } = facts
  const { locale } = recipient
  return { recipient, deliveries: sandbox ? routed.map(withheld) : routed, ...(locale !== undefined && { locale }) }
}

interface BegunChannel {
  readonly status: 'begun'
  readonly candidate: Candidate
  readonly verdict: Exclude<Verdict, { verdict: 'skip' }> | undefined
  readonly rendering: Awaitable<RenderedFields>
}

function beginChannel(
  candidate: Candidate,
  verdict: Verdict | undefined,
  { event: { digest }, facts }: PlanInput,
  time: RenderTime,
): BegunChannel | EndedChannel {
  const { channel, fields } = candidate
  if (verdict?.verdict === 'skip') return { channel, status: 'skipped', reason: verdict.reason }
  return {
    status: 'begun',
    candidate,
    verdict,
    rendering: renderFields(fields, facts, digest ? 'digest' : 'event', time),
  }
}

function planChannel(
  { candidate: { channel, address, concurrencyKey }, verdict }: BegunChannel,
  { content, faults: found }: RenderedFields,
  { event: { digest }, facts, now, delayMs: asked, faults }: PlanInput,
  missing: Map<string, Issue>,
): PlannedDelivery {
  for (const { missing: path, isLate, ...fault } of found) {
    const isOfCaller = path !== undefined && noteMissing(path, missing)
    faults.push({ ...fault, channel, ...(isOfCaller && { missing: path }) })
  }
  if (!content) return { channel, status: 'failed', reason: 'template_error', detail: lastDetail(found) }
  const given = digest?.key(facts)
  if (given?.outcome === 'error') {
    const { detail, cause } = given
    faults.push({ operation: 'digest_key', channel, detail, cause })
    return { channel, status: 'failed', reason: 'template_error', detail }
  }
  const digestKey = given?.key
  const deferredMs = verdict?.verdict === 'defer' ? Math.ceil(verdict.until - now) : 0
  const askedMs = asked + (digest?.windowMs ?? 0)
  const delayMs = Math.max(deferredMs, askedMs)
  return {
    channel,
    status: 'queued',
    address,
    content,
    ...(delayMs > 0 && { delayMs }),
    ...(deferredMs > askedMs && { waitsFor: deferredFor(verdict) }),
    ...(verdict?.limits && verdict.limits.length > 0 && { limits: verdict.limits }),
    ...(digestKey !== undefined && { digestKey }),
    ...(concurrencyKey !== undefined && { concurrencyKey }),
  }
}

/** Refuses copies that the caller may not send. A channel that throws fails its own delivery. */
function withAllowedCopies(
  planned: readonly PlannedDelivery[],
  { channels, checkCopies, faults }: PlanInput,
): readonly PlannedDelivery[] | Refused {
  if (!checkCopies) return planned
  const allowed: PlannedDelivery[] = []
  for (const one of planned) {
    try {
      const refused = one.status === 'queued' && checkCopies(copiesOf(channels[one.channel], one.content))
      if (refused) return refused
      allowed.push(one)
    } catch (cause) {
      const fault = channelFault(one.channel, cause)
      faults.push(fault)
      allowed.push({ channel: one.channel, status: 'failed', reason: 'channel_error', detail: fault.detail })
    }
  }
  return allowed
}

function lastDetail(faults: readonly ContentFault[]): string {
  const last = faults.at(-1)
  if (!last) return ''
  return last.field === undefined ? last.detail : `${last.field}: ${last.detail}`
}

/** Names of the facts that come from the host. */
const OF_HOST: readonly unknown[] = ['recipient', 'links']

/** Records data that the caller did not send. `false`: the path is the host's data, which the host must fix. */
function noteMissing(path: string, missing: Map<string, Issue>): boolean {
  const [root, ...keys] = path.split('.')
  if (OF_HOST.includes(root)) return false
  if (missing.has(path)) return true
  // The digest has only this event yet: `events.0.total` is its `/eventData/total`.
  const inData = root === 'data' ? keys : root === 'events' ? keys.slice(1) : []
  const pointer = inData.reduce(pointerTo, '/eventData')
  missing.set(path, { pointer, code: 'missing_template_data', detail: `a template reads ${path}` })
  return true
}

/** Holds all but the first sendable delivery, until the previous one fails. */
function holdFallbacks(planned: readonly PlannedDelivery[]): readonly PlannedDelivery[] {
  const first = planned.findIndex(({ status }) => status === 'queued')
  return planned.map((delivery, index) => {
    if (delivery.status !== 'queued' || index <= first) return delivery
    const { delayMs, waitsFor, ...held } = delivery
    return { ...held, status: 'held' }
  })
}

/** Skips a delivery in sandbox mode, and records its address and content. */
function withheld(planned: PlannedDelivery): PlannedDelivery {
  if (planned.status !== 'queued' && planned.status !== 'held') return planned
  const { channel, address, content } = planned
  return { channel, status: 'skipped', reason: 'sandboxed', address, content }
}

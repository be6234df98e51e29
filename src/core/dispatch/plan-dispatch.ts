import type { Issue } from '../../errors.ts'
import type { ConditionTrace, Content, DeliveryReason } from '../../model/dispatch.ts'
import type { JsonValue } from '../../model/json.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Decision } from '../../ports/condition-engine.ts'
import type { CatalogChannel, CatalogEvent, EventFacts } from '../../ports/event-catalog.ts'
import { pointerTo } from '../json-pointer.ts'
import { type Refused, refuse } from '../result.ts'
import { toJson } from '../to-json.ts'
import { reachThrough } from './reach-through.ts'

/** What is to become of one channel. */
export type PlannedDelivery = { readonly channel: string } & (
  | { readonly status: 'queued' | 'held'; readonly address: string; readonly content: Content }
  | { readonly status: 'skipped'; readonly reason: DeliveryReason; readonly trace?: readonly ConditionTrace[] }
  | { readonly status: 'failed'; readonly reason: DeliveryReason }
)

/** What is to become of an event, channel by channel. */
export interface Plan {
  readonly deliveries: readonly PlannedDelivery[]
  readonly locale?: string
}

/**
 * Decides what an event means for each of the given channels of it: conditions, address, rendering. Pure: the same facts
 * give the same plan, and nothing is stored or sent. Refused when a template needs data that was not sent.
 */
export function planDispatch(
  entries: readonly CatalogChannel[],
  { when, route }: CatalogEvent,
  facts: EventFacts,
  channels: Readonly<Record<string, Channel>>,
): Plan | Refused {
  const missing = new Map<string, Issue>()
  const gate = when?.(facts)
  const planned = entries.map((entry) => planChannel(entry, gate, facts, channels, missing))
  if (missing.size > 0) {
    return refuse('template_data_missing', 'A template reads data that was not sent.', {
      errors: [...missing.values()],
    })
  }
  const { locale } = facts.recipient
  return { deliveries: route === 'first' ? holdFallbacks(planned) : planned, ...(locale !== undefined && { locale }) }
}

function planChannel(
  { channel, when, fields }: CatalogChannel,
  gate: Decision | undefined,
  facts: EventFacts,
  channels: Readonly<Record<string, Channel>>,
  missing: Map<string, Issue>,
): PlannedDelivery {
  const decision = gate === undefined || gate.outcome === 'true' ? when?.(facts) : gate
  if (decision?.outcome === 'false') {
    return { channel, status: 'skipped', reason: 'condition_false', trace: decision.trace }
  }
  if (decision?.outcome === 'error') return { channel, status: 'failed', reason: 'condition_error' }
  const reach = reachThrough(channels[channel], facts.recipient)
  if (reach.outcome === 'error') return { channel, status: 'failed', reason: 'channel_error' }
  if (reach.outcome === 'none') return { channel, status: 'skipped', reason: 'no_address' }
  const content = render(fields, facts, missing)
  return content
    ? { channel, status: 'queued', address: reach.address, content }
    : { channel, status: 'failed', reason: 'template_error' }
}

/** The rendered fields; `undefined` when one cannot be. What is missing from the event's data is noted for the caller. */
function render(fields: CatalogChannel['fields'], facts: EventFacts, missing: Map<string, Issue>): Content | undefined {
  const content: Record<string, JsonValue> = {}
  let complete = true
  let empty = true
  for (const field in fields) {
    empty = false
    const rendering = fields[field]?.(facts)
    if (rendering?.outcome === 'rendered') content[field] = rendering.value
    else {
      complete = false
      if (rendering?.outcome === 'missing') noteMissing(rendering.path, missing)
    }
  }
  if (!complete) return undefined
  return empty ? dataAsContent(facts.data) : content
}

function dataAsContent(data: unknown): Content | undefined {
  try {
    const copy = toJson(data)
    return copy === undefined ? undefined : { data: copy }
  } catch {
    return undefined
  }
}

/** What the caller did not send is the caller's to mend; what the host does not know of a recipient is not. */
function noteMissing(path: string, missing: Map<string, Issue>): void {
  const [root, ...keys] = path.split('.')
  if (root === 'recipient' || missing.has(path)) return
  const pointer = root === 'data' ? keys.reduce(pointerTo, '/eventData') : '/eventData'
  missing.set(path, { pointer, code: 'missing_template_data', detail: `a template reads ${path}` })
}

/** All but the first that can be sent wait for the one before to fail. */
function holdFallbacks(planned: readonly PlannedDelivery[]): readonly PlannedDelivery[] {
  const first = planned.findIndex(({ status }) => status === 'queued')
  return planned.map((delivery, index) =>
    delivery.status === 'queued' && index > first ? { ...delivery, status: 'held' } : delivery,
  )
}

import type { Issue } from '../../../errors.ts'
import type { Content } from '../../../model/dispatch.ts'
import type { Recipient } from '../../../model/recipient.ts'
import type { SendLimit, Verdict } from '../../../ports/delivery-policy.ts'
import type { CatalogEvent, EventFacts } from '../../../ports/event-catalog.ts'
import { type Refused, refuse } from '../../answers/result.ts'
import { pointerTo } from '../../json/json-pointer.ts'
import type { EventFault } from '../event-faults.ts'
import type { Candidate, EndedChannel } from './filter-channels.ts'
import { type ContentFault, renderFields } from './render-fields.ts'

/** What a plan says of a message that can be sent. */
interface PlannedMessage {
  readonly channel: string
  readonly address: string
  /** Of an event that is digested: what it would say if no other joined it. */
  readonly content: Content
}

/** What is to become of one channel. */
export type PlannedDelivery =
  | EndedChannel
  | (PlannedMessage & { readonly status: 'skipped'; readonly reason: 'sandboxed' })
  | (PlannedMessage & {
      readonly status: 'queued' | 'held'
      /** How long after acceptance it is due, in milliseconds. Default: 0. */
      readonly delayMs?: number
      readonly limits?: readonly SendLimit[]
      /** What it is digested under. */
      readonly digestKey?: string
      readonly concurrencyKey?: string
    })

/** What is to become of an event, channel by channel. */
export interface Plan {
  readonly recipient: Recipient
  readonly deliveries: readonly PlannedDelivery[]
  readonly locale?: string
}

/** Everything that a plan follows from. */
export interface PlanInput {
  readonly event: CatalogEvent
  readonly facts: EventFacts
  readonly filtered: readonly (Candidate | EndedChannel)[]
  /** What the policy says of each candidate, in the places of `screened`. Absent: send all. */
  readonly verdicts?: readonly (Verdict | undefined)[]
  /** When it is planned, epoch milliseconds. */
  readonly now: number
  /** How long after that it is to be sent, in milliseconds. */
  readonly delayMs: number
  /** Whether nothing may be sent. */
  readonly sandbox: boolean
  /** Takes what fails in host code. */
  readonly faults: EventFault[]
}

/**
 * Decides what an event means for each channel: policy, rendering, route. Pure: the same input gives the same plan, and nothing
 * is stored or sent. Refused when a template needs data that was not sent.
 */
export async function planDispatch(input: PlanInput): Promise<Plan | Refused> {
  const { event, facts, filtered, verdicts, sandbox } = input
  const missing = new Map<string, Issue>()
  const planned: PlannedDelivery[] = []
  for (const [index, one] of filtered.entries())
    planned.push(one.status === 'candidate' ? await planChannel(one, verdicts?.[index], input, missing) : one)
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

async function planChannel(
  { channel, fields, address, concurrencyKey }: Candidate,
  verdict: Verdict | undefined,
  { event: { digest }, facts, now, delayMs: asked, faults }: PlanInput,
  missing: Map<string, Issue>,
): Promise<PlannedDelivery> {
  if (verdict?.verdict === 'skip') return { channel, status: 'skipped', reason: verdict.reason }
  let failed = ''
  const onFault = ({ missing: path, ...fault }: ContentFault): void => {
    failed = fault.field === undefined ? fault.detail : `${fault.field}: ${fault.detail}`
    if (path === undefined || !noteMissing(path, missing)) faults.push({ ...fault, channel })
  }
  const content = await renderFields(fields, facts, onFault, digest ? 'digest' : 'event')
  if (!content) return { channel, status: 'failed', reason: 'template_error', detail: failed }
  const given = digest?.key(facts)
  if (given?.outcome === 'error') {
    const { detail, cause } = given
    faults.push({ operation: 'digest_key', channel, detail, cause })
    return { channel, status: 'failed', reason: 'template_error', detail }
  }
  const digestKey = given?.key
  const deferredMs = verdict?.verdict === 'defer' ? Math.ceil(verdict.until - now) : 0
  const delayMs = Math.max(deferredMs, asked + (digest?.windowMs ?? 0))
  return {
    channel,
    status: 'queued',
    address,
    content,
    ...(delayMs > 0 && { delayMs }),
    ...(verdict?.limits && verdict.limits.length > 0 && { limits: verdict.limits }),
    ...(digestKey !== undefined && { digestKey }),
    ...(concurrencyKey !== undefined && { concurrencyKey }),
  }
}

/** What the caller did not send is the caller's to mend; what the host does not know of a recipient is not. Gives whether it is. */
function noteMissing(path: string, missing: Map<string, Issue>): boolean {
  const [root, ...keys] = path.split('.')
  if (root === 'recipient') return false
  if (missing.has(path)) return true
  // Of a list of events only this one is known yet: `events.0.total` is its `/eventData/total`.
  const inData = root === 'data' ? keys : root === 'events' ? keys.slice(1) : []
  const pointer = inData.reduce(pointerTo, '/eventData')
  missing.set(path, { pointer, code: 'missing_template_data', detail: `a template reads ${path}` })
  return true
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

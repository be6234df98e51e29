import type { DeliveryReason } from '../../../model/dispatch.ts'
import type { DispatchRow } from '../../rules/dispatch-rows.ts'
import { Unreadable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import type { StoredDelivery, StoredEntry } from './stored-deliveries.ts'

/** A line per delivery: its channel, and its reason, its final status or `open`. */
export function outcomesOf({ deliveries }: DispatchRow): string {
  let text = ''
  for (const { channel, status, reason } of deliveries) {
    const isOpen = status === 'queued' || status === 'sending' || status === 'held'
    const word = isOpen ? 'open' : status === 'expired' ? status : (reason ?? status)
    text += `\n${channel} ${word}\n`
  }
  return text
}

/** The state of a delivery as the outcomes of its dispatch tell it. */
export interface ToldOutcome {
  readonly channel: string
  /** Its reason, its final status or `open`. */
  readonly word: string
}

export function toldOutcomes({ outcomes }: Pick<RecordOf<'states'>, 'outcomes'>): readonly ToldOutcome[] {
  return [...outcomes.matchAll(/\n(\S+) (\w+)\n/g)].map(([, channel = '', word = '']) => ({ channel, word }))
}

/** Members that begin an entry of a state, in the order in which they are written. */
const ENTRY = /\{"deliveryId":"([^"\\]+)",(?:"channel":"([^"\\]+)"|"shared":true)/g

/** The deliveries of a state whose body cannot be read: their outcomes, with the ids that are left in the body. */
export function damagedEntries(state: RecordOf<'states'>): readonly StoredEntry[] {
  const text = state.body instanceof Unreadable ? state.body.text : ''
  const left = [...text.matchAll(ENTRY)].map(([, deliveryId = '', channel]) => ({ deliveryId, channel }))
  const told = toldOutcomes(state)
  const areAllLeft = left.length === told.length
  return told.map((outcome, at) => {
    const place = areAllLeft ? 0 : left.findIndex(({ channel }) => channel === outcome.channel)
    const [found] = place < 0 ? [] : left.splice(place, 1)
    if (found && found.channel === undefined) return { deliveryId: found.deliveryId, shared: true }
    return damagedDelivery(found?.deliveryId ?? `${state.dispatch_id} ${at + 1}`, outcome)
  })
}

/** A digest whose state cannot be read. @param size Number of its events. */
export function damagedDigest(deliveryId: string, size: number, outcome: ToldOutcome): StoredDelivery {
  const digest = { key: '', max: size, recipient: { id: '' }, opened: 0, size }
  return { ...damagedDelivery(deliveryId, outcome), digest }
}

/** A delivery whose state cannot be read. Its job, if it has one, tells that it waits or is leased. */
function damagedDelivery(deliveryId: string, { channel, word }: ToldOutcome): StoredDelivery {
  return { deliveryId, channel, ...ended(word), acceptedAt: 0, expiresAt: 0, isDamaged: true }
}

const FAILURES: readonly string[] = [
  'provider_rejected',
  'channel_rejected',
  'attempts_exhausted',
  'condition_error',
  'template_error',
  'channel_error',
  'record_unreadable',
] satisfies DeliveryReason[]
const ENDS: readonly string[] = ['sent', 'failed', 'skipped', 'cancelled', 'expired']

function ended(word: string): Pick<StoredDelivery, 'status' | 'reason'> {
  if (word === 'open') return { status: 'failed', reason: 'record_unreadable' }
  if (ENDS.includes(word)) return { status: word as StoredDelivery['status'] }
  return { status: FAILURES.includes(word) ? 'failed' : 'skipped', reason: word as DeliveryReason }
}

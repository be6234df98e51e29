import type { DeliveryReason } from '../../../model/dispatch.ts'
import type { DispatchRow } from '../../rules/dispatch-rows.ts'
import type { StateRecord } from '../schema/records.ts'
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

const LINE = /\n(\S+) (\w+)\n/g

/** Members of an entry that begin it, in the order in which they are written. */
const ENTRY = /\{"deliveryId":"([^"\\]+)",(?:"channel":"([^"\\]+)"|"shared":true)/g

/** The deliveries of a state whose body cannot be read: their outcomes, and what is left of the body. */
export function damagedEntries({ dispatch_id, body, outcomes }: StateRecord): readonly StoredEntry[] {
  const left = [...(body ?? '').matchAll(ENTRY)]
  return [...outcomes.matchAll(LINE)].map(([, channel = '', word = ''], at) => {
    const [, id = `${dispatch_id} ${at + 1}`, named = ''] = left[at] ?? []
    if (left[at] && named === '') return { deliveryId: id, shared: true }
    return damagedDelivery(named === '' || named === channel ? id : `${dispatch_id} ${at + 1}`, channel, word)
  })
}

/** Channels of the deliveries of a state, in their order. */
export function channelsOf({ outcomes }: StateRecord): readonly string[] {
  return [...outcomes.matchAll(LINE)].map(([, channel = '']) => channel)
}

/** A delivery whose state cannot be read. @param word Of its outcome. */
function damagedDelivery(deliveryId: string, channel: string, word: string): StoredDelivery {
  return { deliveryId, channel, ...ended(word), acceptedAt: 0, expiresAt: 0, isDamaged: true }
}

/** A digest whose state cannot be read. @param size Number of its events. */
export function damagedDigest(deliveryId: string, channel: string, size: number): StoredDelivery {
  const digest = { key: '', max: size, recipient: { id: '' }, opened: 0, size }
  return { ...damagedDelivery(deliveryId, channel, 'open'), digest }
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

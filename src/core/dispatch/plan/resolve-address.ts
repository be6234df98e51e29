import { isStorable } from '../../../model/json.ts'
import type { Recipient } from '../../../model/recipient.ts'
import { ignoreRejection } from '../../../model/thrown.ts'
import type { Channel } from '../../../ports/channel.ts'

/** Whether a channel reaches a recipient, and where. */
export type ResolvedAddress =
  | { readonly outcome: 'reached'; readonly address: string; readonly concurrencyKey?: string }
  | { readonly outcome: 'none' }
  /** The channel threw, gave no string, or is not there. */
  | { readonly outcome: 'error'; readonly cause?: unknown }

const NONE: ResolvedAddress = { outcome: 'none' }
const ERROR: ResolvedAddress = { outcome: 'error' }

/** Asks a channel, which may be of the host's own making, where it reaches a recipient. */
export function resolveAddress(channel: Channel | undefined, recipient: Recipient): ResolvedAddress {
  if (!channel) return ERROR
  try {
    const address: unknown = channel.address(recipient)
    if (typeof address === 'string' && address !== '') return reached(address, channel.concurrencyKey?.(address))
    ignoreRejection(address)
    return address === undefined || address === null || address === '' ? NONE : ERROR
  } catch (cause) {
    return { outcome: 'error', cause }
  }
}

function reached(address: string, concurrencyKey: unknown): ResolvedAddress {
  ignoreRejection(concurrencyKey)
  if (!isStorable(address)) return ERROR
  if (concurrencyKey === undefined) return { outcome: 'reached', address }
  const isKey = typeof concurrencyKey === 'string' && isStorable(concurrencyKey)
  return isKey ? { outcome: 'reached', address, concurrencyKey } : ERROR
}

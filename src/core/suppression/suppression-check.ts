import { covers, type RefusedAddress, type SuppressedEvent, type Suppression } from '../../model/suppression.ts'
import type { FeedbackStore } from '../../ports/feedback-store.ts'
import type { AddressKeys } from './address-keys.ts'
import { newSuppression } from './new-suppression.ts'

/** A message that is about to be planned or sent. */
export interface CheckedMessage extends SuppressedEvent {
  readonly tenant: string
  readonly channel: string
  readonly address: string
}

/** Tells whether an address is suppressed. */
export interface SuppressionCheck {
  /** Reads the store. Rejects when it is unavailable. */
  isSuppressed(message: CheckedMessage): Promise<boolean>
  /** Suppresses an address that a provider has refused, for all categories. Rejects when the store is unavailable. */
  suppress(of: Pick<CheckedMessage, 'tenant' | 'channel' | 'address'>, reason: RefusedAddress): Promise<void>
}

/** Source of suppressions by a refusal when a message was sent. */
const SEND = 'send'

/** Limit of address keys in one read. */
const MAX_KEYS = 500

interface Asked {
  readonly keys: readonly string[]
  resolve(found: readonly Suppression[]): void
  reject(cause: unknown): void
}

/** Checks that begin together share a read. */
export function suppressionCheck(
  store: Pick<FeedbackStore, 'findSuppressions' | 'addSuppressions'>,
  addressKeys: AddressKeys,
): SuppressionCheck {
  let asked: Asked[] = []

  function find(keys: readonly string[]): Promise<readonly Suppression[]> {
    return new Promise((resolve, reject) => {
      if (asked.push({ keys, resolve, reject }) === 1) queueMicrotask(read)
    })
  }

  function read(): void {
    const all = asked
    asked = []
    for (let at = 0; at < all.length; ) {
      const batch: Asked[] = []
      for (let size = 0; at < all.length && (batch.length === 0 || size < MAX_KEYS); at++) {
        const one = all[at] as Asked
        size += one.keys.length
        batch.push(one)
      }
      void readBatch(batch)
    }
  }

  async function readBatch(batch: readonly Asked[]): Promise<void> {
    try {
      const found = await store.findSuppressions(batch.flatMap(({ keys }) => keys))
      for (const { keys, resolve } of batch) {
        resolve(found.length === 0 ? found : found.filter(({ addressKey }) => keys.includes(addressKey)))
      }
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }

  return {
    async isSuppressed({ tenant, channel, address, ...event }) {
      const keys = addressKeys.all(tenant, address)
      const found = await find('then' in keys ? await keys : keys)
      return found.some((one) => one.tenant === tenant && one.channel === channel && covers(one, event))
    },
    async suppress({ tenant, channel, address }, reason) {
      const addressKey = await addressKeys.current(tenant, address)
      await store.addSuppressions([await newSuppression({ tenant, channel, addressKey, reason, source: SEND })])
    },
  }
}

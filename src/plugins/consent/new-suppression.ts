import { sha256 } from '../../model/sha256.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { NewSuppression } from './suppression-records.ts'

type Identity = Pick<Suppression, 'tenant' | 'channel' | 'addressKey' | 'reason' | 'category'>

/** Adds the id, which is equal for repetitions. */
export async function newSuppression(given: Omit<NewSuppression, 'suppressionId'>): Promise<NewSuppression> {
  return { ...given, suppressionId: await suppressionIdOf(given) }
}

/** Equal for equal identities. */
export function suppressionIdOf({ tenant, channel, addressKey, reason, category }: Identity): Promise<string> {
  return sha256(JSON.stringify(['suppression', tenant, channel, addressKey, reason, category ?? null]))
}

import { maskAddress } from '../../model/mask-address.ts'
import { normaliseAddress } from '../../model/normalise-address.ts'
import type { RecipientAddress, RecipientProfile } from '../../model/recipient-profile.ts'
import type { Suppression } from '../../model/suppression.ts'
import { type Checks, readOptions, required } from '../../options/read-options.ts'
import type { SallyportStore } from '../../ports/sallyport-store.ts'
import { storedText, type TenantScope, tenant } from '../../services/call-checks.ts'
import type { AddressKeys } from './address-keys.ts'
import { findPreferences, newestPreferences } from './stored-preferences.ts'
import type { SuppressionRecords } from './suppression-records.ts'
import { viewSuppression } from './suppression-view.ts'

/** Newest dispatches that are read for their addresses, by the index of recipients. */
const READ = 50
/** Limit of addresses, so that all their keys are read at once. */
const MAX_ADDRESSES = 100

interface Reached {
  readonly channel: string
  readonly address: string
}

/** Recipient of {@link RecipientProfiles.profile}. */
export interface ProfileOptions extends TenantScope {
  /** Exactly as in dispatches. Its suppressions and preferences match in any spelling of case and domain. */
  readonly recipient: string
}

/** Profiles of recipients: their preferences and suppressions, which decide whether messages reach them. */
export interface RecipientProfiles {
  /**
   * Reads the preferences of a recipient, and the suppressions of the addresses that its newest dispatches went to.
   *
   * @throws {SallyportError} `option_invalid`.
   */
  profile(options: ProfileOptions): Promise<RecipientProfile>
}

const CHECKS: Checks<ProfileOptions> = { tenant, recipient: required(storedText) }

interface ProfileDeps {
  readonly store: SallyportStore
  readonly suppressions: SuppressionRecords
  readonly addressKeys: AddressKeys
}

export function recipientProfiles(deps: ProfileDeps): RecipientProfiles {
  return {
    async profile(options) {
      const { recipient, tenant = 'default' } = readOptions('dispatches.profile', options, CHECKS)
      return readProfile(tenant, recipient, deps)
    },
  }
}

async function readProfile(
  tenant: string,
  recipient: string,
  { store, suppressions, addressKeys }: ProfileDeps,
): Promise<RecipientProfile> {
  const reached = await readReached(tenant, recipient, store)
  const keys = await addressKeys.all(tenant, recipient)
  const preferences = newestPreferences(await findPreferences(store, keys), keys)
  const texts = [recipient, ...reached.map(({ address }) => address)]
  const found = await suppressionsOf(tenant, texts, addressKeys, suppressions)
  const isReached = (channel: string): boolean =>
    reached.some((one) => one.channel === channel && normaliseAddress(one.address) === normaliseAddress(recipient))
  // The recipient may be an address that nothing was sent to yet.
  const others = new Set(
    found
      .get(recipient)
      ?.map(({ channel }) => channel)
      .filter((channel) => !isReached(channel)),
  )
  const all = [...reached, ...[...others].map((channel): Reached => ({ channel, address: recipient }))]
  const addresses = all.map((one): RecipientAddress => {
    const own = found.get(one.address)?.filter(({ channel }) => channel === one.channel) ?? []
    return { ...masked(one), suppressions: own.map(viewSuppression) }
  })
  return { ...(preferences && { preferences }), addresses }
}

/** The addresses that the newest dispatches to a recipient went to, each channel once per address. */
async function readReached(tenant: string, recipient: string, store: SallyportStore): Promise<readonly Reached[]> {
  const { items } = await store.listDispatches({ tenant, recipient, limit: READ })
  const reached = new Map<string, Reached>()
  for (const { channel, address } of items.flatMap(({ deliveries }) => deliveries)) {
    if (address === undefined || reached.size === MAX_ADDRESSES) continue
    const key = JSON.stringify([channel, normaliseAddress(address)])
    if (!reached.has(key)) reached.set(key, { channel, address })
  }
  return [...reached.values()]
}

/** Suppressions of each address, oldest first. */
async function suppressionsOf(
  tenant: string,
  addresses: readonly string[],
  keys: AddressKeys,
  suppressions: SuppressionRecords,
): Promise<ReadonlyMap<string, readonly Suppression[]>> {
  const keysOf = new Map<string, readonly string[]>()
  for (const address of addresses) keysOf.set(address, await keys.all(tenant, address))
  const found = await suppressions.find([...new Set([...keysOf.values()].flat())])
  const inOrder = found.filter((one) => one.tenant === tenant).sort((one, other) => one.createdAt - other.createdAt)
  return new Map(
    [...keysOf].map(([address, own]) => [address, inOrder.filter(({ addressKey }) => own.includes(addressKey))]),
  )
}

function masked({ channel, address }: Reached): RecipientAddress {
  return { channel, address: maskAddress(address) }
}

import type { Suppression, SuppressionReason } from '../../model/suppression.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import type { NewPluginRecord, PluginRecord, RecordDraft, RecordName, RecordStore } from '../../ports/record-store.ts'
import { timedText } from '../timed-text.ts'

/** A suppression to store. */
export interface NewSuppression extends Omit<Suppression, 'createdAt' | 'expiresAt'> {
  /** Milliseconds until it expires. Default: never. */
  readonly expiresInMs?: number
}

/** Query for suppressions that match every given member, newest first. */
export interface SuppressionQuery {
  readonly tenant: string
  readonly channel?: string | undefined
  readonly reason?: SuppressionReason | undefined
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** Addresses to which nothing is sent. */
export interface SuppressionRecords {
  /**
   * Stores suppressions, at most 100; resolves to the ids of those that were new. A stored one remains and expires at the later of both
   * times. An expired one counts as not stored. Once the promise resolves, {@link SuppressionRecords.find} finds them in every process.
   */
  add(suppressions: readonly NewSuppression[]): Promise<readonly string[]>
  /** Finds the suppressions of any of the address keys, at most 1,000, that have not expired, in any order. */
  find(addressKeys: readonly string[]): Promise<readonly Suppression[]>
  /** Lists suppressions that have not expired. */
  list(query: SuppressionQuery): Promise<Page<Suppression>>
  /** Removes suppressions by their ids, at most 100. Resolves to the number that was removed. */
  remove(suppressionIds: readonly string[]): Promise<number>
  /** Removes expired suppressions of all tenants. Resolves to their number: fewer than `limit` means that none is left. */
  removeExpired(limit: number): Promise<number>
}

const KIND = 'suppressions'
/** Tenant of the records: they are found by the hash of an address, which is keyed by its tenant. */
const OF_NO_TENANT = ''
const BY_ADDRESS = 0
const BY_TIME = 1

export function suppressionRecords(store: RecordStore): SuppressionRecords {
  return {
    async add(suppressions) {
      const now = await store.now()
      return store.changeRecords(suppressions.map(nameOfSuppression), (draft) =>
        suppressions.flatMap((one) => (suppress(one, draft, now) ? one.suppressionId : [])),
      )
    },
    async find(addressKeys) {
      const texts = addressKeys.map((text) => ({ tenant: OF_NO_TENANT, text }))
      const now = await store.now()
      const found = await store.findRecords({ kind: KIND, by: BY_ADDRESS, texts })
      return found.filter((one) => isUnexpired(one, now)).map(suppressionOf)
    },
    async list({ tenant, channel, reason, ...page }) {
      const now = await store.now()
      const { items, ...rest } = await store.listRecords({
        ...{ kind: KIND, tenant: OF_NO_TENANT, by: BY_TIME, isReverse: true, ...page },
        ...{ from: timedText([tenant], 0), until: timedText([tenant], Number.MAX_SAFE_INTEGER) },
        where(record) {
          if (!isUnexpired(record, now)) return false
          const one = suppressionOf(record)
          return (channel === undefined || one.channel === channel) && (reason === undefined || one.reason === reason)
        },
      })
      return { items: items.map(suppressionOf), ...rest }
    },
    async remove(suppressionIds) {
      const now = await store.now()
      const names = suppressionIds.map((suppressionId) => nameOfSuppression({ suppressionId }))
      return store.changeRecords(names, (draft) => {
        const found = names.flatMap((name) => draft.get(name) ?? [])
        for (const one of found) draft.remove(one)
        return found.filter((one) => isUnexpired(one, now)).length
      })
    },
    removeExpired: (limit) => store.removeRecords({ kind: KIND, expiredForMs: 0, limit }),
  }
}

export function nameOfSuppression({ suppressionId: key }: Pick<Suppression, 'suppressionId'>): RecordName {
  return { kind: KIND, tenant: OF_NO_TENANT, key }
}

/** Stores a suppression, or extends the stored one. Returns whether it is new. */
export function suppress({ expiresInMs, ...given }: NewSuppression, draft: RecordDraft, now: number): boolean {
  const found = draft.get(nameOfSuppression(given))
  const stored = found && isUnexpired(found, now) ? found : undefined
  const expiresAt = expiresInMs === undefined ? undefined : Math.ceil(now + expiresInMs)
  if (!stored) draft.put(recordOf({ ...given, createdAt: now }, expiresAt))
  else if (stored.expiresAt !== undefined && (expiresAt === undefined || expiresAt > stored.expiresAt))
    draft.put({ ...stored, expiresAt })
  return !stored
}

function isUnexpired({ expiresAt }: Pick<PluginRecord, 'expiresAt'>, now: number): boolean {
  return expiresAt === undefined || expiresAt > now
}

function recordOf(one: Omit<Suppression, 'expiresAt'>, expiresAt: number | undefined): NewPluginRecord<object> {
  const { suppressionId: _, addressKey, ...body } = one
  const sort = [addressKey, timedText([body.tenant], body.createdAt)]
  return { ...nameOfSuppression(one), sort, expiresAt, body }
}

function suppressionOf({ key, sort: [addressKey], expiresAt, body }: PluginRecord): Suppression {
  const rest = body as unknown as Omit<Suppression, 'suppressionId' | 'addressKey' | 'expiresAt'>
  return { suppressionId: key, addressKey: addressKey ?? '', ...rest, ...(expiresAt !== undefined && { expiresAt }) }
}

import { parseInstant, writeInstant } from '../../model/instants.ts'
import { normaliseAddress } from '../../model/normalise-address.ts'
import {
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
  type SuppressionView,
} from '../../model/suppression.ts'
import { like, oneOf, text, whole } from '../../options/checks.ts'
import {
  type Check,
  type Checks,
  faultOf,
  problemsAt,
  type Rules,
  readOptions,
  required,
} from '../../options/read-options.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import { storedText, type TenantScope, tenant, tenantOf } from '../../services/call-checks.ts'
import { listQuery, MAX_PAGE, type PageOptions, pageChecks, viewPage } from '../../services/pagination.ts'
import type { AddressKeys } from './address-keys.ts'
import { newSuppression } from './new-suppression.ts'
import { type CsvRow, csvLine, readCsv } from './suppression-csv.ts'
import type { NewSuppression, SuppressionRecords } from './suppression-records.ts'
import { viewSuppression } from './suppression-view.ts'

/** Filter of suppressions: those that match all given options. */
export interface SuppressionListOptions extends PageOptions {
  readonly channel?: string | undefined
  readonly reason?: SuppressionReason | undefined
}

/** An address not to send to. */
export interface AddSuppression extends TenantScope {
  /** A channel of this Sallyport. */
  readonly channel: string
  readonly address: string
  /** Default: `manual`. */
  readonly reason?: SuppressionReason | undefined
  /** Suppresses only events of this category, which never covers critical ones. Default: all events. */
  readonly category?: string | undefined
  /** Milliseconds until it expires, up to 20 years. Default: never. */
  readonly expiresInMs?: number | undefined
}

/** Suppressions of one address: either `address` or `addressKey` is required. */
export interface SuppressionsOfAddress extends TenantScope {
  readonly address?: string | undefined
  /** As in a {@link SuppressionView}, where the address is not known. */
  readonly addressKey?: string | undefined
  /** Default: all channels. */
  readonly channel?: string | undefined
}

/** Options of {@link Suppressions.importCsv}. */
export interface ImportSuppressionsOptions extends TenantScope {
  /** Channel of lines without one. */
  readonly channel?: string | undefined
}

/** Result of {@link Suppressions.importCsv}. */
export interface ImportedSuppressions {
  /** Lines that added a suppression; the others were there already. */
  readonly added: number
  /** Lines that were not read, 1-based without the header, with the fault. At most 100. */
  readonly problems: readonly { readonly line: number; readonly detail: string }[]
}

/**
 * Addresses to which nothing is sent. Every method throws errors of the store, and `option_invalid` with all problems of its options.
 */
export interface Suppressions {
  /** Newest first. */
  list(options?: SuppressionListOptions): Promise<Page<SuppressionView>>
  /** Suppressions of one address, of all reasons. */
  find(of: SuppressionsOfAddress): Promise<readonly SuppressionView[]>
  /** Resolves to `true` when it is new. From then on no attempt to this address begins, in any process. */
  add(suppression: AddSuppression): Promise<boolean>
  /** Removes the suppressions of an address, of all reasons. A repeated report of a provider does not restore them. */
  remove(of: SuppressionsOfAddress): Promise<{ readonly removed: number }>
  /**
   * Adds suppressions from CSV with a header line. Columns: `address` (or `email`, `recipient`, `phone`) or `address_key`, `channel`,
   * `reason` (default `manual`), `category`, `expires_at` (RFC 3339). Other columns are ignored.
   */
  importCsv(csv: string, options?: ImportSuppressionsOptions): Promise<ImportedSuppressions>
  /** Writes all suppressions of a tenant as CSV, in parts: the columns of `importCsv`, `source` and `created_at`. */
  exportCsv(scope?: TenantScope): AsyncIterable<string>
}

const LIST = 'suppressions'
const MAX_EXPIRY_MS = 20 * 366 * 86_400_000
const MAX_ADDRESS = 2_048
const MAX_PROBLEMS = 100
const CHUNK = 100

const category: Check = like(/^[A-Za-z0-9._-]{1,256}$/, 'must be a category: 1-256 of A-Z a-z 0-9 . _ -')
const LIST_CHECKS: Checks<SuppressionListOptions> = {
  ...pageChecks(LIST),
  channel: storedText,
  reason: oneOf(SUPPRESSION_REASONS),
}
const ADD_CHECKS: Checks<Omit<AddSuppression, 'channel'>> = {
  tenant,
  address: required(storedText),
  reason: oneOf(SUPPRESSION_REASONS),
  category,
  expiresInMs: whole(1, MAX_EXPIRY_MS),
}
const OF_CHECKS: Checks<SuppressionsOfAddress> = {
  tenant,
  address: storedText,
  addressKey: storedText,
  channel: storedText,
}

const oneAddress: Rules = ({ address, addressKey }) =>
  (address === undefined) === (addressKey === undefined)
    ? [{ field: 'address', detail: 'give either address or addressKey' }]
    : []

interface SuppressionsDeps {
  readonly records: SuppressionRecords
  readonly clock: Pick<Clock, 'now'>
  readonly addressKeys: AddressKeys
  /** Names of the channels. A suppression of another one would have no effect. */
  readonly channels: readonly string[]
}

export function suppressionsOf({ records, clock, addressKeys, channels }: SuppressionsDeps): Suppressions {
  const addChecks: Checks<AddSuppression> = { ...ADD_CHECKS, channel: required(oneOf(channels)) }
  const importChecks: Checks<ImportSuppressionsOptions> = { tenant, channel: oneOf(channels) }

  async function ofAddress(call: string, of: SuppressionsOfAddress): Promise<readonly Suppression[]> {
    const { tenant = 'default', address, addressKey, channel } = readOptions(call, of, OF_CHECKS, oneAddress)
    const found = await records.find(
      address === undefined ? [addressKey ?? ''] : await addressKeys.all(tenant, address),
    )
    return found.filter((one) => one.tenant === tenant && (channel === undefined || one.channel === channel))
  }

  async function importLines(csv: string, { tenant = 'default', channel }: ImportSuppressionsOptions) {
    const problems: { line: number; detail: string }[] = []
    let added = 0
    let chunk: NewSuppression[] = []
    const flush = async (): Promise<void> => {
      if (chunk.length > 0) added += (await records.add(chunk)).length
      chunk = []
    }
    for (const [at, row] of readCsv(csv).entries()) {
      const read = row
        ? readRow(row, { channel, channels, now: clock.now() })
        : 'is no CSV line with the columns of the header'
      if (typeof read === 'string') {
        if (problems.length < MAX_PROBLEMS) problems.push({ line: at + 1, detail: read })
        continue
      }
      const { address, key, ...rest } = read
      const addressKey = key ?? (await addressKeys.current(tenant, address))
      const one = await newSuppression({ ...rest, tenant, addressKey, source: 'host' })
      if (chunk.every(({ suppressionId }) => suppressionId !== one.suppressionId)) chunk.push(one)
      if (chunk.length === CHUNK) await flush()
    }
    await flush()
    return { added, problems }
  }

  return {
    async list(options = {}) {
      const query = listQuery(LIST, readOptions('suppressions.list', options, LIST_CHECKS))
      return viewPage(LIST, await records.list(query), viewSuppression)
    },

    async find(of) {
      return (await ofAddress('suppressions.find', of)).map(viewSuppression)
    },

    async add(suppression) {
      const read = readOptions('suppressions.add', suppression, addChecks)
      const { tenant = 'default', channel, address, reason = 'manual', category, expiresInMs } = read
      const addressKey = await addressKeys.current(tenant, address)
      const one = await newSuppression({
        ...{ tenant, channel, addressKey, reason, source: 'host' },
        ...(category !== undefined && { category }),
        ...(expiresInMs !== undefined && { expiresInMs }),
      })
      return (await records.add([one])).length > 0
    },

    async remove(of) {
      const ids = (await ofAddress('suppressions.remove', of)).map(({ suppressionId }) => suppressionId)
      let removed = 0
      for (let at = 0; at < ids.length; at += CHUNK) removed += await records.remove(ids.slice(at, at + CHUNK))
      return { removed }
    },

    async importCsv(csv, options = {}) {
      const read = readOptions('suppressions.importCsv', options, importChecks, () =>
        problemsAt('csv', faultOf(csv, text)),
      )
      return importLines(csv, read)
    },

    async *exportCsv(scope) {
      const tenant = tenantOf('suppressions.exportCsv', scope)
      yield csvLine(COLUMNS)
      let cursor: string | undefined
      do {
        const page: Page<Suppression> = await records.list({ tenant, limit: MAX_PAGE, cursor })
        yield page.items.map(csvOf).join('')
        cursor = page.nextCursor
      } while (cursor !== undefined)
    },
  }
}

const COLUMNS = ['channel', 'address_key', 'reason', 'category', 'expires_at', 'source', 'created_at']

function csvOf({ channel, addressKey, reason, category = '', expiresAt, source, createdAt }: Suppression): string {
  const expiry = expiresAt === undefined ? '' : writeInstant(expiresAt)
  return csvLine([channel, addressKey, reason, category, expiry, source, writeInstant(createdAt)])
}

interface ReadRow extends Omit<NewSuppression, 'suppressionId' | 'tenant' | 'addressKey' | 'source'> {
  readonly address: string
  readonly key?: string
}

const ADDRESS_KEY = /^[\w-]{1,32}\.[\w-]{43}$/

interface RowContext {
  /** Channel of rows that name none. */
  readonly channel: string | undefined
  readonly channels: readonly string[]
  readonly now: number
}

/** A text is the fault of the line. It quotes no address. */
function readRow(row: CsvRow, { channel: defaultChannel, channels, now }: RowContext): ReadRow | string {
  const channel = row.channel || defaultChannel
  if (!channel) return 'has no channel'
  if (!channels.includes(channel)) return `has a channel that is not one of ${channels.join(', ')}`
  const key = row.address_key
  const address = normaliseAddress(row.address || row.email || row.recipient || row.phone || '')
  if (key ? !ADDRESS_KEY.test(key) : address === '' || address.length > MAX_ADDRESS) return 'has no address'
  const reason = row.reason || 'manual'
  if (!SUPPRESSION_REASONS.includes(reason as SuppressionReason)) {
    return `has a reason that is not one of ${SUPPRESSION_REASONS.join(', ')}`
  }
  if (row.category && category(row.category, {})) return 'has no valid category'
  const until = row.expires_at ? parseInstant(row.expires_at) : undefined
  if (row.expires_at && until === undefined) return 'has an expires_at that is no RFC 3339 instant'
  if (until !== undefined && until <= now) return 'has expired'
  return {
    ...{ channel, address, reason: reason as SuppressionReason },
    ...(key && { key }),
    ...(row.category && { category: row.category }),
    ...(until !== undefined && { expiresInMs: until - now }),
  }
}

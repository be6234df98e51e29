import { yieldToEventLoop } from '../core/yield-to-event-loop.ts'
import type { Dispatch } from '../model/dispatch.ts'
import { normaliseAddress } from '../model/normalise-address.ts'
import { whole } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type { Logger } from '../ports/logger.ts'
import type { SallyportStore } from '../ports/sallyport-store.ts'
import { storedText, type TenantScope } from './call-checks.ts'
import { MAX_PAGE, pageChecks, readCursor, writeCursor } from './pagination.ts'
import { type PluginData, viewDispatches } from './plugin-data.ts'
import { type ExportedDispatch, exportDispatch, type RecipientExport } from './recipient-export.ts'

/** A recipient to export or erase. */
export interface RecipientOptions extends TenantScope {
  /** As in dispatches, or an address that was sent to. Mail addresses match in any spelling of case and domain. */
  readonly recipient: string
  /** Dispatches of a page of an export, 1-500, default 50; or dispatches that an erasure reads, 1-1,000,000, default all. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous call of the same method, unchanged. */
  readonly cursor?: string | undefined
}

/** Counts of an erasure. */
export interface RecipientErasure {
  /** Erased dispatches, with those that share a digest with them. */
  readonly dispatches: number
  /** Deliveries that were open and will not be sent. */
  readonly cancelled: number
  /** Redacted answers of idempotency keys. */
  readonly answers: number
  /** With `limit`: more dispatches are to be read. */
  readonly nextCursor?: string
}

/** Access and erasure for a recipient (GDPR articles 15 and 17). */
export interface RecipientData {
  /**
   * Exports everything that is stored about a recipient, in pages: addresses and content too, and what plugins store. Reads all dispatches of
   * the tenant.
   *
   * @throws {SallyportError} `option_invalid`.
   */
  export(options: RecipientOptions): Promise<RecipientExport>
  /**
   * Erases a recipient: cancels its open deliveries and removes addresses, data, content and what plugins store, such as preferences. Outcomes
   * remain without them, and suppressions as keyed hashes. Reads all dispatches of the tenant. May be repeated at any time, such as after an
   * error.
   *
   * @throws {SallyportError} `option_invalid`.
   */
  erase(options: RecipientOptions): Promise<RecipientErasure>
}

interface RecipientDataDeps {
  readonly store: SallyportStore
  readonly clock: Clock
  readonly logger: Logger
  readonly plugins: PluginData
}

const EXPORT = 'dispatches.export'
const ERASE = 'dispatches.erase'
const MAX_READ = 1_000_000

const EXPORT_CHECKS: Checks<RecipientOptions> = { ...pageChecks(EXPORT), recipient: required(storedText) }
const ERASE_CHECKS: Checks<RecipientOptions> = {
  ...pageChecks(ERASE),
  limit: whole(1, MAX_READ),
  recipient: required(storedText),
}

export function recipientData({ store, clock, logger, plugins }: RecipientDataDeps): RecipientData {
  /** Reads a page of a tenant's dispatches. With `oldest` first, dispatches that are accepted meanwhile are read too. */
  async function readPage(recipient: string, query: { tenant: string; limit: number; cursor: string | undefined }) {
    const page: Page<Dispatch> = await store.listDispatches({ ...query, first: 'oldest' })
    const wanted = normaliseAddress(recipient)
    return { ...page, found: page.items.filter((dispatch) => isAbout(wanted, dispatch)) }
  }

  async function view(tenant: string, found: readonly Dispatch[]): Promise<readonly ExportedDispatch[]> {
    const read = await Promise.all(found.map(({ dispatchId }) => store.findDispatchData(tenant, dispatchId)))
    const all = read.flatMap((data) => data ?? [])
    const dispatches = all.map(({ dispatch }) => dispatch)
    const views = await viewDispatches(dispatches, 'export', plugins, clock.now())
    return views.flatMap((one, at) => (all[at] ? exportDispatch(one, all[at]) : []))
  }

  return {
    async export(options) {
      const { recipient, tenant = 'default', limit = 50, cursor } = readOptions(EXPORT, options, EXPORT_CHECKS)
      let [from] = readCursor(EXPORT, cursor) ?? []
      const stored = from === undefined ? await plugins.exportOf({ tenant, recipient }) : {}
      const first = Object.keys(stored).length > 0 && { plugins: stored }
      for (;;) {
        const { found, nextCursor } = await readPage(recipient, { tenant, limit, cursor: from })
        from = nextCursor
        if (found.length === 0 && from !== undefined) {
          await yieldToEventLoop(clock)
          continue
        }
        const next = from !== undefined && { nextCursor: writeCursor(EXPORT, [from]) }
        return { dispatches: await view(tenant, found), ...first, ...next }
      }
    },

    async erase(options) {
      const { recipient, tenant = 'default', limit = Infinity, cursor } = readOptions(ERASE, options, ERASE_CHECKS)
      const counts = { dispatches: 0, cancelled: 0, answers: 0 }
      let [from] = readCursor(ERASE, cursor) ?? []
      // Also answers of dispatches that were removed.
      if (from === undefined) counts.answers += await store.redactAnswers({ tenant, recipient, dispatchIds: [] })
      if (from === undefined) await plugins.erase({ tenant, recipient })
      let left = limit
      for (;;) {
        const page = await readPage(recipient, { tenant, limit: Math.min(left, MAX_PAGE), cursor: from })
        const dispatchIds = page.found.map(({ dispatchId }) => dispatchId)
        if (dispatchIds.length > 0) {
          // First: after a crash, only dispatches that are not erased lead to their answers.
          counts.answers += await store.redactAnswers({ tenant, recipient, dispatchIds })
          for (const dispatchId of dispatchIds) {
            const erased = await store.eraseDispatch(tenant, dispatchId)
            counts.dispatches += erased?.dispatches ?? 0
            counts.cancelled += erased?.cancelled ?? 0
          }
        }
        left -= page.items.length
        from = page.nextCursor
        if (from === undefined || left <= 0) break
        await yieldToEventLoop(clock)
      }
      logger.log('info', 'recipient.erased', counts)
      return { ...counts, ...(from !== undefined && { nextCursor: writeCursor(ERASE, [from]) }) }
    },
  }
}

/** Whether a dispatch is to this recipient or was sent to this address. @param wanted A normalised address. */
function isAbout(wanted: string, dispatch: Dispatch): boolean {
  if (normaliseAddress(dispatch.recipient) === wanted) return true
  return dispatch.deliveries.some(({ address }) => address !== undefined && normaliseAddress(address) === wanted)
}

import type { Dispatch } from '../../../model/dispatch.ts'
import type { DispatchQuery, Page } from '../../../ports/dispatch-query.ts'
import { currentStatus, type DispatchRow, readDispatch } from '../../rules/dispatch-rows.ts'
import { cursorOf, positionOf } from '../connection/cursors.ts'
import type { Database } from '../connection/database.ts'
import { filledPage, type PageEntries } from '../connection/filled-page.ts'
import { type Bind, binder, type IndexScan, mergedText, type ScanRange, scanText } from '../connection/index-scan.ts'
import { indexKey } from './delivery-records.ts'
import { dispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadToShow } from './load-dispatches.ts'

/** A row of an index. */
interface Place {
  readonly dispatch_id: string
  readonly created_at: unknown
  /** 1: it fits what the index does not tell. */
  readonly fits: unknown
}

/** One page of dispatches, in the order in which they were accepted. The cursor is the place of the one that it ends with. */
export function listDispatches(query: DispatchQuery, db: Database): Promise<Page<Dispatch>> {
  return filledPage(query.limit, query.cursor, (cursor, amount, needed) =>
    readEntries({ ...query, cursor }, amount, needed, db),
  )
}

async function readEntries(
  query: DispatchQuery,
  amount: number,
  needed: number,
  db: Database,
): Promise<PageEntries<Dispatch>> {
  const places = await readPlaces(query, amount, db)
  const fitting = places.filter(({ fits }) => Number(fits) === 1).slice(0, needed)
  const isCut = fitting.length === needed
  const shown = isCut ? places.slice(0, places.indexOf(fitting.at(-1) as Place) + 1) : places
  const rows = await readRows(fitting, db)
  const entries = shown.map(({ dispatch_id, created_at, fits }) => {
    const row = Number(fits) === 1 ? rows.get(dispatch_id) : undefined
    // It may have changed since its place was read.
    const isShown = row && (query.status === undefined || currentStatus(row) === query.status)
    return { cursor: cursorOf(Number(created_at), dispatch_id), item: isShown ? readDispatch(row) : undefined }
  })
  return { entries, isEnd: !isCut && places.length < amount }
}

/** The index that serves a query, and what it does not tell. */
interface Plan {
  readonly scans: readonly IndexScan[]
  readonly filters: readonly (readonly [text: string, value: string])[]
}

/**
 * A session and a recipient have fewer dispatches than any other filter; a status fewer than an event type, but for `sent`. The
 * others of a combination are filters of the rows that are read.
 */
function planOf({ tenant, sessionId, recipient, status, eventType }: DispatchQuery, db: Database): Plan {
  const filters = {
    recipient: recipient === undefined ? [] : [['r.recipient = ?', recipient] as const],
    status: status === undefined ? [] : [[`${statusColumn(db)} = ?`, status] as const],
    eventType: eventType === undefined ? [] : [['r.event_type = ?', eventType] as const],
  }
  if (sessionId !== undefined) {
    const all = [...filters.recipient, ...filters.status, ...filters.eventType]
    return { scans: [scanOf('by_session', tenant, ['session_id', sessionId])], filters: all }
  }
  if (recipient !== undefined) {
    const all = [...filters.recipient, ...filters.status, ...filters.eventType]
    return { scans: [scanOf('by_recipient', tenant, ['recipient_key', indexKey(recipient)])], filters: all }
  }
  if (eventType !== undefined && (status === undefined || status === 'sent')) {
    return { scans: [scanOf('by_event_type', tenant, ['event_type', eventType])], filters: filters.status }
  }
  if (status !== undefined) {
    const own = scanOf('by_status', tenant, ['status', status])
    const inDelivery = scanOf('by_status', tenant, ['dispatch_status', status], 'deliveries')
    const ofType = `(select h.event_type from ${db.nameOf('dispatches')} h where h.dispatch_id = r.dispatch_id) = ?`
    return { scans: [own, inDelivery], filters: eventType === undefined ? [] : [[ofType, eventType]] }
  }
  return { scans: [scanOf('by_time', tenant)], filters: [] }
}

function scanOf(
  index: string,
  tenant: string,
  key?: readonly [column: string, value: string],
  table: 'dispatches' | 'deliveries' = 'dispatches',
): IndexScan {
  const keys = [['tenant', tenant] as const, ...(key ? [key] : [])]
  return { table, index, keys, at: 'created_at', ids: ['dispatch_id'] }
}

/** The status that is kept of a dispatch, wherever it is. */
function statusColumn({ nameOf }: Database): string {
  return `coalesce(r.status, (select max(v.dispatch_status) from ${nameOf('deliveries')} v where v.dispatch_id = r.dispatch_id))`
}

async function readPlaces(query: DispatchQuery, amount: number, db: Database): Promise<readonly Place[]> {
  const { since, until, first = 'newest', cursor } = query
  const place = positionOf(cursor)
  const after = place && { at: place.at, ids: [place.id] }
  const range: ScanRange = { since, until, after, isNewestFirst: first === 'newest' }
  const { scans, filters } = planOf(query, db)
  const { bind, parameters } = binder(db)
  const texts = scans.map((scan) => scanText(scan, range, columnsWith(filters, bind), amount, bind, db))
  return db.scan<Place>(mergedText(texts, ['created_at', 'dispatch_id'], range, amount), parameters)
}

function columnsWith(filters: Plan['filters'], bind: Bind): string {
  const conditions = filters.map(([text, value]) => bind(text, [value]))
  const fits = conditions.length > 0 ? `case when ${conditions.join(' and ')} then 1 else 0 end` : '1'
  return `r.dispatch_id, r.created_at, ${fits} as fits`
}

async function readRows(places: readonly Place[], db: Database): Promise<ReadonlyMap<string, DispatchRow>> {
  const work = dispatchUnitOfWork(db.now())
  const ids = places.map(({ dispatch_id }) => dispatch_id)
  await loadToShow(ids, db, work)
  return new Map(
    ids.flatMap((id): [string, DispatchRow][] => {
      const row = work.dispatch(id)
      return row ? [[id, row]] : []
    }),
  )
}

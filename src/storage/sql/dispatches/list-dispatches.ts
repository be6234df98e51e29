import type { Dispatch } from '../../../model/dispatch.ts'
import type { DispatchQuery, Page } from '../../../ports/dispatch-query.ts'
import { indexKey } from '../../engine/stored-texts.ts'
import { currentStatus, readDispatch } from '../../rules/dispatch-rows.ts'
import { hasDelivery } from '../../rules/has-delivery.ts'
import type { Database } from '../connection/database.ts'
import { Parameters } from '../connection/dialects.ts'
import {
  cursorOf,
  filledPage,
  type IndexScan,
  type PageEntries,
  positionOf,
  type ScanRange,
  scanText,
} from '../connection/keyset-pagination.ts'
import { contains } from '../connection/stored-texts.ts'
import { loadToShow } from './load-dispatches.ts'

interface Place {
  readonly dispatch_id: string
  readonly created_at: unknown
  /** 1: it matches the filters that the index does not cover. */
  readonly fits: unknown
}

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
  const ids = fitting.map(({ dispatch_id }) => dispatch_id)
  const work = await loadToShow(ids, db)
  const entries = shown.map(({ dispatch_id, created_at, fits }) => {
    const row = Number(fits) === 1 ? work.dispatch(dispatch_id) : undefined
    // It may have changed after its place was read.
    const isShown =
      row && (query.status === undefined || currentStatus(row) === query.status) && hasDelivery(row, query)
    return { cursor: cursorOf(Number(created_at), dispatch_id), item: isShown ? readDispatch(row) : undefined }
  })
  return { entries, isEnd: !isCut && places.length < amount }
}

async function readPlaces(query: DispatchQuery, amount: number, db: Database): Promise<readonly Place[]> {
  const { since, until, first = 'newest', cursor } = query
  const place = positionOf(cursor)
  const after = place
  const range: ScanRange = { since, until, after, isNewestFirst: first === 'newest' }
  const { scan, filters } = planOf(query, db)
  const parameters = new Parameters(db.dialect)
  const conditions = filters.map(([text, ...values]) => parameters.bind(text, values))
  const fits = conditions.length > 0 ? `case when ${conditions.join(' and ')} then 1 else 0 end` : '1'
  const text = scanText(scan, range, `r.dispatch_id, r.created_at, ${fits} as fits`, amount, parameters, db)
  return db.scan<Place>(text, parameters.values)
}

type Filter = readonly [text: string, ...values: readonly string[]]

interface Plan {
  readonly scan: IndexScan
  readonly filters: readonly Filter[]
}

/** Chooses the index with the fewest rows; `sent` is the most frequent status. Other filters are checked per row. */
function planOf(query: DispatchQuery, db: Database): Plan {
  const { scan, filters } = indexFor(query, db)
  return { scan, filters: [...filters, ...deliveryFilter(query, db)] }
}

/** The dispatch has a delivery, or shares one of a digest, with the channel and the reason. */
function deliveryFilter({ channel, reason }: DispatchQuery, { nameOf, dialect }: Database): readonly Filter[] {
  if (channel === undefined && reason === undefined) return []
  const part = `${channel === undefined ? '' : `\n${channel}`} ${reason === undefined ? '' : `${reason}\n`}`
  const has = contains('s.outcomes', '?', dialect)
  return [[`exists (select 1 from ${nameOf('states')} s where s.dispatch_id = r.dispatch_id and ${has})`, part]]
}

function indexFor({ tenant, sessionId, recipient, status, eventType }: DispatchQuery, { nameOf }: Database): Plan {
  const listed = `exists (select 1 from ${nameOf('listed')} l
    where l.tenant = r.tenant and l.status = ? and l.created_at = r.created_at and l.dispatch_id = r.dispatch_id)`
  const byStatus = filterOf(listed, status)
  const all = [...filterOf('r.recipient = ?', recipient), ...byStatus, ...filterOf('r.event_type = ?', eventType)]
  if (sessionId !== undefined) return { scan: scanOf('by_session', tenant, ['session_id', sessionId]), filters: all }
  if (recipient !== undefined)
    return { scan: scanOf('by_recipient', tenant, ['recipient_key', indexKey(recipient)]), filters: all }
  if (eventType !== undefined && (status === undefined || status === 'sent'))
    return { scan: scanOf('by_event_type', tenant, ['event_type', eventType]), filters: byStatus }
  if (status !== undefined) {
    const ofType = `(select h.event_type from ${nameOf('dispatches')} h where h.dispatch_id = r.dispatch_id) = ?`
    return { scan: scanOf(undefined, tenant, ['status', status]), filters: filterOf(ofType, eventType) }
  }
  return { scan: scanOf('by_time', tenant), filters: [] }
}

function filterOf(text: string, value: string | undefined): readonly Filter[] {
  return value === undefined ? [] : [[text, value]]
}

/** @param index Index of the dispatches. Absent: the table of their statuses. */
function scanOf(index: string | undefined, tenant: string, key?: readonly [column: string, value: string]): IndexScan {
  const keys = [['tenant', tenant] as const, ...(key ? [key] : [])]
  const of =
    index === undefined ? ({ table: 'listed', isPrimary: true } as const) : ({ table: 'dispatches', index } as const)
  return { ...of, keys, at: 'created_at', id: 'dispatch_id' }
}

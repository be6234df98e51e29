import type { Dispatch } from '../../model/dispatch.ts'
import { statusOfDispatch } from '../../model/dispatch-status.ts'
import type { DispatchQuery, Page } from '../../ports/dispatch-store.ts'
import { readDispatch } from '../deliveries/delivery-copies.ts'
import type { DispatchRow } from '../deliveries/dispatch-rows.ts'
import { cursorOf, placeOf } from './cursors.ts'
import type { Database } from './database.ts'
import { indexKey } from './delivery-records.ts'
import { loadToShow } from './load-dispatches.ts'
import { workspace } from './workspace.ts'

/** Looked at for one page at most, so that a list of which little fits does not take forever. */
const MAX_SEEN = 10_000
/** Read at once where a status is asked for, which only the deliveries tell. */
const SOME = 500

interface Place {
  readonly dispatch_id: string
  readonly created_at: unknown
}

/** One page of dispatches, in the order in which they were accepted. The cursor is the place of the one that it ends with. */
export async function listDispatches(query: DispatchQuery, db: Database): Promise<Page<Dispatch>> {
  const { limit, status } = query
  const items: Dispatch[] = []
  let cursor = query.cursor
  let given = query.cursor
  let seen = 0
  for (;;) {
    const wanted = status === undefined ? limit + 1 : SOME
    const places = await readPlaces({ ...query, cursor }, wanted, db)
    const rows = await readRows(places, db)
    for (const place of places) {
      const row = rows.get(place.dispatch_id)
      const own = cursorOf(Number(place.created_at), place.dispatch_id)
      if (row && (status === undefined || statusOf(row) === status)) {
        if (items.length >= limit) return { items, ...(given !== undefined && { nextCursor: given }) }
        items.push(readDispatch(row))
        given = own
      }
      cursor = own
    }
    if (places.length < wanted) return { items }
    seen += places.length
    if (seen >= MAX_SEEN) return { items, ...(cursor !== undefined && { nextCursor: cursor }) }
  }
}

async function readPlaces(query: DispatchQuery, wanted: number, db: Database): Promise<readonly Place[]> {
  const { tenant, sessionId, eventType, recipient, since, until, first = 'newest', cursor } = query
  const parameters: unknown[] = []
  const where: string[] = []
  const hold = (condition: string, ...values: readonly unknown[]): void => {
    let at = parameters.length
    where.push(condition.replaceAll('?', () => db.dialect.parameter(++at)))
    parameters.push(...values)
  }
  hold('tenant = ?', tenant)
  if (sessionId !== undefined) hold('session_id = ?', sessionId)
  if (recipient !== undefined) hold('recipient_key = ? and recipient = ?', indexKey(recipient), recipient)
  if (eventType !== undefined) hold('event_type = ?', eventType)
  if (since !== undefined) hold('created_at >= ?', since)
  if (until !== undefined) hold('created_at < ?', until)
  const after = placeOf(cursor)
  const [sign, order] = first === 'oldest' ? ['>', 'asc'] : ['<', 'desc']
  if (after) {
    hold(`(created_at ${sign} ? or (created_at = ? and dispatch_id ${sign} ?))`, after.at, after.at, after.id)
    hold(`created_at ${sign}= ?`, after.at)
  }
  const text = `select dispatch_id, created_at from ${db.nameOf('dispatches')} where ${where.join(' and ')} order by created_at ${order}, dispatch_id ${order} limit ${wanted}`
  return db.query<Place>(text, parameters)
}

async function readRows(places: readonly Place[], db: Database): Promise<ReadonlyMap<string, DispatchRow>> {
  const work = workspace(db.now())
  const ids = places.map(({ dispatch_id }) => dispatch_id)
  await loadToShow(ids, db, work)
  return new Map(
    ids.flatMap((id): [string, DispatchRow][] => {
      const row = work.dispatch(id)
      return row ? [[id, row]] : []
    }),
  )
}

function statusOf({ head, deliveries }: DispatchRow): ReturnType<typeof statusOfDispatch> {
  return statusOfDispatch(
    deliveries.map(({ status }) => status),
    head.route,
  )
}

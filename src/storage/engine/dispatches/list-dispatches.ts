import type { Dispatch } from '../../../model/dispatch.ts'
import type { DispatchQuery, Page } from '../../../ports/dispatch-query.ts'
import { currentStatus, readDispatch } from '../../rules/dispatch-rows.ts'
import { hasDelivery } from '../../rules/has-delivery.ts'
import { readPage, timeRange } from '../pages.ts'
import type { Filter, Prefix, Records, Scan } from '../records.ts'
import { indexKey } from '../stored-texts.ts'
import { loadToShow } from './load-dispatches.ts'

export async function listDispatches(query: DispatchQuery, records: Records): Promise<Page<Dispatch>> {
  const { since, until, first = 'newest', limit, cursor } = query
  const { earliest: now } = await records.now()
  const scan = { ...planOf(query), ...timeRange(since, until, first), columns: [] }
  return readPage<'dispatches' | 'listed', Dispatch>(records, scan, {
    limit,
    cursor,
    async itemsOf(found) {
      const ids = found.map(({ dispatch_id }) => dispatch_id)
      const work = await loadToShow(ids, records, now)
      return ids.map((id) => {
        const row = work.dispatch(id)
        // It may have changed after it was found.
        const isShown =
          row && (query.status === undefined || currentStatus(row) === query.status) && hasDelivery(row, query)
        return isShown ? readDispatch(row) : undefined
      })
    },
  })
}

type Plan = Pick<Scan<'dispatches' | 'listed'>, 'kind' | 'index' | 'with' | 'where'>

/** Chooses the index with the fewest records; `sent` is the most frequent status. Other filters are checked per record. */
function planOf(query: DispatchQuery): Plan {
  const { tenant, sessionId, recipient, status, eventType } = query
  const isListed = filterOf(status, (is) => ({ of: 'listed', key: { status: is } }))
  const isFor = filterOf(recipient, (is) => ({ column: 'recipient', in: [is] }))
  const isOfType = filterOf(eventType, (is) => ({ column: 'event_type', in: [is] }))
  const plan = (index: string, key: Prefix, ...filters: readonly (readonly Filter[])[]): Plan => ({
    kind: 'dispatches',
    index,
    with: [[tenant, ...key]],
    where: [...filters.flat(), ...deliveryFilter(query)],
  })
  if (sessionId !== undefined) return plan('by_session', [sessionId], isFor, isListed, isOfType)
  if (recipient !== undefined) return plan('by_recipient', [indexKey(recipient)], isFor, isListed, isOfType)
  if (eventType !== undefined && (status === undefined || status === 'sent'))
    return plan('by_event_type', [eventType], isListed)
  if (status === undefined) return plan('by_time', [])
  const ofDispatch = isOfType.map((filter): Filter => ({ ...filter, of: 'dispatches' }))
  return { kind: 'listed', with: [[tenant, status]], where: [...ofDispatch, ...deliveryFilter(query)] }
}

function filterOf(value: string | undefined, filter: (value: string) => Filter): readonly Filter[] {
  return value === undefined ? [] : [filter(value)]
}

/** The dispatch has a delivery, or shares one of a digest, with the channel and the reason. */
function deliveryFilter({ channel, reason }: DispatchQuery): readonly Filter[] {
  if (channel === undefined && reason === undefined) return []
  const part = `${channel === undefined ? '' : `\n${channel}`} ${reason === undefined ? '' : `${reason}\n`}`
  return [{ of: 'states', column: 'outcomes', contains: part }]
}

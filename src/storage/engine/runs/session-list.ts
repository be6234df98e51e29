import type { Page } from '../../../ports/dispatch-query.ts'
import type { StoredSession } from '../../../ports/run-store.ts'
import type { SessionQuery } from '../../../ports/session-query.ts'
import { ifReadable } from '../json-values.ts'
import { readPage, timeRange } from '../pages.ts'
import type { Records } from '../records.ts'
import { copySession, storedSession } from './run-records.ts'

export function listSessions(
  { tenant, since, until, first = 'newest', limit, cursor }: SessionQuery,
  records: Records,
): Promise<Page<StoredSession>> {
  const scan = { kind: 'sessions', index: 'by_time', with: [[tenant]], ...timeRange(since, until, first) } as const
  return readPage<'sessions', StoredSession>(records, scan, {
    limit,
    cursor,
    itemsOf: async (found) => found.map((record) => ifReadable(() => copySession(storedSession(record)))),
  })
}

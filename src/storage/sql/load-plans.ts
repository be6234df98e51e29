import { hasHostCodeFailure } from '../deliveries/replan-dispatch.ts'
import type { Database } from './database.ts'
import { columnsOf, readRecord } from './read-records.ts'
import { TABLES } from './tables.ts'
import type { Workspace } from './workspace.ts'

/** Takes in what dispatches are planned from again, for those that were taken in and of which something failed in host code. */
export async function loadPlans(ids: readonly string[], db: Database, into: Workspace): Promise<void> {
  const failed = ids.filter((id) => {
    const row = into.dispatch(id)
    return row && hasHostCodeFailure(row)
  })
  if (failed.length === 0) return
  const { dialect, nameOf, query } = db
  const { dispatch_id } = TABLES.plan_sources.columns
  const rows = dialect.rows(dialect.parameter(1), { dispatch_id }, 'x')
  const text = `select ${columnsOf('plan_sources', 'p', dialect)} from ${rows} join ${nameOf('plan_sources')} p on p.dispatch_id = x.dispatch_id`
  const list = JSON.stringify(failed.map((id) => ({ dispatch_id: id })))
  const found = await query<Readonly<Record<string, unknown>>>(text, [list])
  for (const row of found) into.putPlan(readRecord('plan_sources', row))
}

import type { Database } from '../connection/database.ts'
import { lookUp } from '../connection/look-ups.ts'
import { columnsOf, readRecord } from '../connection/read-records.ts'
import { TABLES } from '../schema/tables.ts'
import type { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'

/** Takes in what dispatches are planned from again, for those that were taken in. */
export async function loadPlans(ids: readonly string[], db: Database, into: DispatchUnitOfWork): Promise<void> {
  if (ids.length === 0) return
  const { dialect, nameOf, query } = db
  const { dispatch_id } = TABLES.plan_sources.columns
  const rows = dialect.rows(dialect.parameter(1), { dispatch_id }, 'x')
  const plans = lookUp({ table: 'plan_sources', alias: 'p', on: 'p.dispatch_id = x.dispatch_id' }, dialect, nameOf)
  const text = `select ${columnsOf('plan_sources', 'p', dialect)} from ${rows} ${plans}`
  const list = JSON.stringify(ids.map((id) => ({ dispatch_id: id })))
  const found = await query<Readonly<Record<string, unknown>>>(text, [list])
  for (const row of found) into.putPlan(readRecord('plan_sources', row))
}

import type { DispatchRow } from '../../rules/dispatch-rows.ts'
import type { Changes } from '../connection/changes.ts'
import type { PlanSourceRecord } from '../schema/records.ts'

/** What was read of plans, compared with what has become of them. */
export interface KnownPlans {
  put(row: DispatchRow, record: PlanSourceRecord): void
  /** Writes down what is new, replanned, used up, or removed with its dispatch: that must be as it was read. */
  save(row: DispatchRow, isRemoved: boolean, changes: Changes): void
}

export function knownPlans(): KnownPlans {
  const records = new Map<DispatchRow, PlanSourceRecord>()
  return {
    put(row, record) {
      records.set(row, record)
      row.plan = { source: JSON.parse(record.source), version: record.version }
    },

    save(row, isRemoved, changes) {
      const { plan, head } = row
      const record = records.get(row)
      const dispatch_id = head.dispatchId
      if (!record) {
        if (plan)
          changes.insert('plan_sources', { dispatch_id, source: JSON.stringify(plan.source), version: plan.version })
      } else if (isRemoved || !plan) changes.remove('plan_sources', { dispatch_id, version: record.version })
      else if (plan.version !== record.version) changes.update('plan_sources', record)
    },
  }
}

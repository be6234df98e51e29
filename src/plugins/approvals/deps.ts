import type { PluginCore } from '../plugin.ts'
import type { ApprovalRecords } from './approval-records.ts'
import type { ApprovalsOptions } from './check-options.ts'

/** Topic of the wakes of waiters: an approval has ended. */
export const TOPIC = 'approval'

/** Dependencies of the service of approvals. */
export interface ApprovalDeps extends Pick<PluginCore, 'clock' | 'ids' | 'commit' | 'report' | 'wake' | 'logger'> {
  readonly plan: NonNullable<PluginCore['plan']>
  readonly records: ApprovalRecords
  readonly options: ApprovalsOptions
}

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

/** Who asks, waits, withdraws or uses: an application or a session token. */
export interface Asker {
  readonly tenant: string
  /** Id of the credential; of an exchanged session token, the one that the host issued. */
  readonly id: string
  /** The only session that it may ask for. Absent: all. */
  readonly sessionId?: string | undefined
  /** The only run that it may ask for. Absent: all of the session. */
  readonly runId?: string | undefined
}

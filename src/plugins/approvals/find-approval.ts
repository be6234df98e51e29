import { port } from '../../core/answers/fault.ts'
import { type Refused, refuse } from '../../core/answers/result.ts'
import type { PluginRecord } from '../../ports/record-store.ts'
import { approvalKey } from './approval-records.ts'
import type { ApprovalDeps } from './deps.ts'
import type { StoredApproval } from './stored-approval.ts'

export type ApprovalRecord = PluginRecord<StoredApproval>

/** The place of an approval. */
export interface ApprovalPlace {
  readonly tenant: string
  readonly sessionId: string
  readonly approvalId: string
  /** The only run whose approval is found. Default: all of the session. */
  readonly runId?: string | undefined
}

export function notFound(): Refused {
  return refuse('approval_not_found', 'There is no such approval in this session.')
}

export async function findApproval(
  { tenant, sessionId, approvalId, runId }: ApprovalPlace,
  { records }: Pick<ApprovalDeps, 'records'>,
): Promise<ApprovalRecord | undefined> {
  const key = await approvalKey(tenant, sessionId, approvalId)
  const [found] = await port('store_unavailable', () => records.approvals.find(tenant, [key]))
  return runId === undefined || found?.body.runId === runId ? found : undefined
}

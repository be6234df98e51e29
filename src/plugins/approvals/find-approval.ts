import { port } from '../../core/answers/fault.ts'
import { type Refused, refuse } from '../../core/answers/result.ts'
import { insufficientScope } from '../../core/authenticate.ts'
import { invalid } from '../../core/validate.ts'
import type { PluginRecord } from '../../ports/record-store.ts'
import { approvalKey } from './approval-records.ts'
import type { ApprovalDeps, Asker } from './deps.ts'
import type { StoredApproval } from './stored-approval.ts'

export type ApprovalRecord = PluginRecord<StoredApproval>

/** The session that a caller names, or that of its token. */
export function sessionOf(asker: Asker, named: string | undefined): string | Refused {
  const { sessionId = named } = asker
  if (sessionId === undefined) return invalid([{ pointer: '/sessionId', code: 'required', detail: 'is required' }])
  return named === undefined || named === sessionId
    ? sessionId
    : insufficientScope('The session token is for another session.')
}

export function notFound(): Refused {
  return refuse('approval_not_found', 'There is no such approval in this session.')
}

/** Finds an approval that a caller may see: of its session and run. */
export async function findApproval(
  asker: Asker,
  sessionId: string,
  approvalId: string,
  { records }: Pick<ApprovalDeps, 'records'>,
): Promise<ApprovalRecord | undefined> {
  const key = await approvalKey(asker.tenant, sessionId, approvalId)
  const [found] = await port('store_unavailable', () => records.approvals.find(asker.tenant, [key]))
  return asker.runId === undefined || found?.body.runId === asker.runId ? found : undefined
}

import type { Issue } from '../../errors.ts'
import { type ApprovalGrant, DEFAULT_RUN_EVENTS, type DispatchGrant, type Principal } from '../../model/principal.ts'
import type { TokenGrants } from '../../model/token-exchange.ts'

/** Grants of a parent token. */
export type Granted = Pick<Principal, 'dispatch' | 'approval' | 'runEvents'>

export interface NarrowedGrants {
  readonly dispatch?: DispatchGrant
  readonly approval?: ApprovalGrant
  readonly runEvents: number
}

/** Grants for a sub-agent, or an issue for each one that exceeds the parent's. Absent limits become those of the parent. */
export function narrowGrants(
  { dispatch: parent, approval: parentApproval, runEvents: parentRunEvents = DEFAULT_RUN_EVENTS }: Granted,
  { dispatch, approval, runEvents = Math.min(DEFAULT_RUN_EVENTS, parentRunEvents) }: TokenGrants,
): NarrowedGrants | { readonly issues: readonly Issue[] } {
  const issues = [
    ...(dispatch ? dispatchIssues(parent, dispatch) : []),
    ...(approval ? approvalIssues(parentApproval, approval) : []),
    ...(runEvents > parentRunEvents ? [beyond('/grants/runEvents', `the token grants ${parentRunEvents}`)] : []),
  ]
  if (issues.length > 0) return { issues }
  const maxDispatches = dispatch?.maxDispatches ?? parent?.maxDispatches
  const maxApprovals = approval?.maxApprovals ?? parentApproval?.maxApprovals
  return {
    ...(dispatch && { dispatch: { ...dispatch, ...(maxDispatches !== undefined && { maxDispatches }) } }),
    ...(approval && { approval: { ...approval, ...(maxApprovals !== undefined && { maxApprovals }) } }),
    runEvents,
  }
}

const LISTS = ['events', 'channels', 'recipients'] as const

function dispatchIssues(parent: DispatchGrant | undefined, asked: DispatchGrant): readonly Issue[] {
  if (!parent) return [beyond('/grants/dispatch', 'the token grants no dispatch')]
  return [
    ...LISTS.flatMap((list) => foreign(`/grants/dispatch/${list}`, parent[list], asked[list])),
    ...more('/grants/dispatch/maxDispatches', parent.maxDispatches, asked.maxDispatches),
  ]
}

function approvalIssues(parent: ApprovalGrant | undefined, asked: ApprovalGrant): readonly Issue[] {
  if (!parent) return [beyond('/grants/approval', 'the token grants no approvals')]
  return [
    ...foreign('/grants/approval/events', parent.events, asked.events),
    ...more('/grants/approval/maxApprovals', parent.maxApprovals, asked.maxApprovals),
  ]
}

function foreign(pointer: string, granted: readonly string[], asked: readonly string[]): readonly Issue[] {
  const known = new Set(granted)
  return asked.flatMap((name, index) =>
    known.has(name) ? [] : [beyond(`${pointer}/${index}`, 'the token does not grant it')],
  )
}

function more(pointer: string, most = Number.POSITIVE_INFINITY, asked = 0): readonly Issue[] {
  return asked > most ? [beyond(pointer, `the token grants ${most}`)] : []
}

function beyond(pointer: string, detail: string): Issue {
  return { pointer, code: 'not_allowed', detail }
}

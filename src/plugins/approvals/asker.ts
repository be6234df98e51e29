import type { Refused } from '../../core/answers/result.ts'
import { insufficientScope } from '../../core/authenticate.ts'
import type { ApprovalRequest } from '../../model/approval-calls.ts'
import { LONGEST_TOKEN_MS, type Principal } from '../../model/principal.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import { type ApprovalPlace, notFound } from './find-approval.ts'

/** The caller who asks. */
export interface Asker {
  readonly tenant: string
  /** Id of its credential. */
  readonly id: string
  /** Limits of the requests of a session token and its parents. Default: none. */
  readonly quotas?: readonly SendLimit[]
}

/** Lets a session token ask for its own session and run, by the events of its grant. An application may ask for all. */
export function askerOf(principal: Principal, asked: ApprovalRequest): Asker | Refused {
  const { id, tenant, sessionId, runId, approval } = principal
  if (sessionId === undefined) return { id, tenant }
  if (!approval) return grantsNone()
  if (asked.sessionId !== sessionId) return insufficientScope('The session token is for another session.')
  if (runId !== undefined && asked.runId !== runId) return insufficientScope('The session token is for another run.')
  if (!approval.events.includes(asked.eventType))
    return insufficientScope('The session token does not grant this event.')
  return { id, tenant, quotas: quotasOf(principal) }
}

/** Lets a session token reach approvals of its own session and run: it finds no others. */
export function reachableBy(principal: Principal, place: ApprovalPlace): ApprovalPlace | Refused {
  const { sessionId, runId, approval } = principal
  if (sessionId === undefined) return place
  if (!approval) return grantsNone()
  if (place.sessionId !== sessionId) return notFound()
  return runId === undefined ? place : { ...place, runId }
}

function grantsNone(): Refused {
  return insufficientScope('The session token grants no approvals.')
}

/** One counter per token. */
function quotasOf({ id, approval, parents = [] }: Principal): readonly SendLimit[] {
  return [{ id, maxApprovals: approval?.maxApprovals }, ...parents].flatMap(({ id: tokenId, maxApprovals: max }) =>
    max === undefined ? [] : [{ key: `approvals ${tokenId}`, max, windowMs: LONGEST_TOKEN_MS }],
  )
}

import { type DispatchGrant, LONGEST_TOKEN_MS, type Principal } from '../../model/principal.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'

/** The agent that caused an event which the host dispatches. */
export interface CausedBy {
  readonly sessionId: string
  readonly quotas: readonly SendLimit[]
}

/** Caller of a dispatch, as far as its plan and its acceptance need it. */
export interface Caller {
  /** Id of the principal. */
  readonly id: string
  readonly tenant: string
  /** Session of the agent. `undefined`: no agent is behind it. */
  readonly session: string | undefined
  /** Grant of a session token. */
  readonly grant: DispatchGrant | undefined
  /** Limits of accepted dispatches. `undefined`: none. */
  readonly quotas: readonly SendLimit[] | undefined
}

/** @param causedBy Session and quotas of an application's dispatch. Default: those of the principal. */
export function callerOf(principal: Principal, causedBy: CausedBy | undefined): Caller {
  const { id, tenant, sessionId: session = causedBy?.sessionId, dispatch: grant } = principal
  const { quotas } = causedBy ?? quotasOf(principal)
  return { id, tenant, session, grant, quotas }
}

/** Quotas of a token and of its parents with `maxDispatches`: one counter per token. */
export function quotasOf({ id, dispatch, parents = [] }: Principal): Pick<Caller, 'quotas'> {
  const quotas: SendLimit[] = []
  for (const token of [{ id, maxDispatches: dispatch?.maxDispatches }, ...parents]) {
    const { maxDispatches: max } = token
    if (max !== undefined) quotas.push({ key: `grant ${token.id}`, max, windowMs: LONGEST_TOKEN_MS })
  }
  return { quotas: quotas.length > 0 ? quotas : undefined }
}

import type { HandlerRequest, HandlerResult, Refused } from '../core/answers/result.ts'
import type { ActionRoute } from '../core/endpoints.ts'
import { membersOf } from '../model/json.ts'
import type { Principal } from '../model/principal.ts'
import type { RequestEnd } from '../plugins/plugin.ts'

/**
 * The end of a request that was handled.
 *
 * @param made Id of what it made, if the action told it.
 */
export function endOfRequest(
  principal: Principal,
  action: ActionRoute,
  { body }: Pick<HandlerRequest, 'body'>,
  result: HandlerResult<unknown>,
  made?: string,
): RequestEnd {
  if (!result.ok) return { principal, action, refused: result.body.code, id: result.body.requestId }
  const dispatchId = membersOf(result.body)?.dispatchId
  const runId = membersOf(membersOf(body)?.run)?.runId
  const id = made ?? dispatchId ?? runId
  return { principal, action, id: typeof id === 'string' ? id : undefined }
}

/** The end of a request that was refused before it was handled. */
export function endByRefusal(principal: Principal, action: ActionRoute, { refused }: Refused): RequestEnd {
  return { principal, action, refused }
}

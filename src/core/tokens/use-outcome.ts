import { membersOf } from '../../model/json.ts'
import type { HandlerRequest, HandlerResult, Refused } from '../answers/result.ts'
import type { UseOutcome } from './use-log.ts'

/** Use of a token by a request that was handled. */
export function outcomeOf(
  { body }: Pick<HandlerRequest, 'body'>,
  result: HandlerResult<unknown>,
  jti?: string,
): UseOutcome {
  if (!result.ok) return { outcome: 'refused', code: result.body.code, id: result.body.requestId }
  const dispatchId = membersOf(result.body)?.dispatchId
  const runId = membersOf(membersOf(body)?.run)?.runId
  const id = jti ?? dispatchId ?? runId
  return { outcome: 'accepted', id: typeof id === 'string' ? id : undefined }
}

/** Use of a token that was refused before its request was handled. */
export function refusedOutcome({ refused }: Refused): UseOutcome {
  return { outcome: 'refused', code: refused }
}

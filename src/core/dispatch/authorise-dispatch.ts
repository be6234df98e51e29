import type { DispatchRequest } from '../../model/dispatch.ts'
import type { DispatchGrant, Principal } from '../../model/principal.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import type { Refused } from '../answers/result.ts'
import { insufficientScope } from '../authenticate.ts'

/** Limits a session token to its own session and listed values. Returns the request with its `sessionId` filled in. */
export function authoriseDispatch(
  principal: Principal,
  request: DispatchRequest,
  event: CatalogEvent | undefined,
): DispatchRequest | Refused {
  const { sessionId, dispatch: grant } = principal
  if (sessionId === undefined) return request
  if (!grant) return insufficientScope('The session token may not dispatch.')
  if (request.sessionId !== undefined && request.sessionId !== sessionId) {
    return insufficientScope('The session token is for another session.')
  }
  if (!grant.events.includes(request.eventType))
    return insufficientScope('The session token does not grant this event.')
  if (!grant.recipients.includes(request.recipient)) {
    return insufficientScope('The session token does not grant this recipient.')
  }
  const channels =
    request.channel === undefined ? (event?.channels ?? []).map(({ channel }) => channel) : [request.channel]
  if (!channels.every((channel) => grant.channels.includes(channel))) {
    return insufficientScope(
      'The session token does not grant every channel of this: name one that it grants as "channel".',
    )
  }
  return { ...request, sessionId }
}

/** Refuses a message that also goes to somebody whom the session token does not grant, in the same spelling. */
export function authoriseCopies(copies: readonly string[], { recipients }: DispatchGrant): Refused | undefined {
  if (copies.every((address) => recipients.includes(address))) return undefined
  return insufficientScope('The session token does not grant every recipient of a copy.')
}

/** Refuses a valid token that has used up its quota. */
export function grantSpent(): Refused {
  const detail = 'The session token has dispatched as many events as it may. What was accepted stands.'
  return insufficientScope(detail, 'grant_spent')
}

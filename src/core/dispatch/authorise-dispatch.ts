import type { DispatchRequest } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import { insufficientScope } from '../authenticate.ts'
import type { Refused } from '../result.ts'

/**
 * Holds a session token to its grant: its own session, and only listed events, recipients and channels. Gives the request
 * with its `sessionId` filled in. An application may do everything.
 */
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

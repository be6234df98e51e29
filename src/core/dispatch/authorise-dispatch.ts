import type { DispatchRequest } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { Acceptance } from '../../ports/dispatch-store.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import type { Refused } from '../answers/result.ts'
import { insufficientScope } from '../authenticate.ts'

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

/** No session token lives for longer than a day; some verifiers are lenient about its end. */
const LONGEST_GRANT_MS = 48 * 3_600_000

/** What the store counts for a grant that is limited: the dispatches of this one token. */
export function quotaOf({ id, dispatch }: Principal): Pick<Acceptance, 'quota'> {
  const max = dispatch?.maxDispatches
  if (max === undefined) return NO_QUOTA
  const quota: SendLimit = { key: `grant ${id}`, max, windowMs: LONGEST_GRANT_MS }
  return { quota }
}

const NO_QUOTA: Pick<Acceptance, 'quota'> = Object.freeze({})

/** The refusal of a good token that has dispatched as often as it may. */
export function grantSpent(): Refused {
  const detail = 'The session token has dispatched as many events as it may. What was accepted stands.'
  return insufficientScope(detail, 'grant_spent')
}

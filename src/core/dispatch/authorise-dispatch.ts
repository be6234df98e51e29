import type { DispatchRequest } from '../../model/dispatch.ts'
import { type DispatchGrant, LONGEST_TOKEN_MS, type Principal } from '../../model/principal.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { Acceptance } from '../../ports/dispatch-store.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import { checkQuery, queryInvalid } from '../answers/query.ts'
import type { HandlerRequest, Refused } from '../answers/result.ts'
import { insufficientScope } from '../authenticate.ts'

/** Reads `?dryRun=true`. Only applications may request a dry run: it shows the host's data about a recipient. */
export function readMode(query: HandlerRequest['query'] = {}, principal: Principal): 'dispatch' | 'dry_run' | Refused {
  const misdirected = checkQuery(query, ['dryRun'])
  if (misdirected) return misdirected
  const { dryRun } = query
  if (dryRun === undefined || dryRun === 'false') return 'dispatch'
  if (dryRun !== 'true') return queryInvalid('/dryRun', 'invalid', 'expected true or false, once')
  if (principal.sessionId === undefined) return 'dry_run'
  return insufficientScope('A dry run needs an application secret.')
}

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

const NO_QUOTAS: Pick<Acceptance, 'quotas'> = Object.freeze({})

/** Quotas of a token and of its parents with `maxDispatches`: one counter per token. */
export function quotasOf({ id, dispatch, parents = [] }: Principal): Pick<Acceptance, 'quotas'> {
  const quotas: SendLimit[] = []
  for (const token of [{ id, maxDispatches: dispatch?.maxDispatches }, ...parents]) {
    const { maxDispatches: max } = token
    if (max !== undefined) quotas.push({ key: `grant ${token.id}`, max, windowMs: LONGEST_TOKEN_MS })
  }
  return quotas.length > 0 ? { quotas } : NO_QUOTAS
}

/** Refuses a valid token that has used up its quota. */
export function grantSpent(): Refused {
  const detail = 'The session token has dispatched as many events as it may. What was accepted stands.'
  return insufficientScope(detail, 'grant_spent')
}

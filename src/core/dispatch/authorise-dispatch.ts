import type { DispatchRequest } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import { nearNames } from '../../model/suggestions.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { Acceptance } from '../../ports/dispatch-store.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import { type HandlerRequest, type Refused, refuse } from '../answers/result.ts'
import { insufficientScope } from '../authenticate.ts'

/**
 * Reads `?dryRun=true`. A dry run shows rendered content, and so the host's data about a recipient: only applications may request
 * it.
 */
export function readMode(query: HandlerRequest['query'] = {}, principal: Principal): 'dispatch' | 'dry_run' | Refused {
  const { dryRun } = query
  const isValid = dryRun === undefined || dryRun === 'true' || dryRun === 'false'
  // A misspelled `dryRun` must not send.
  if (!isValid || Object.keys(query).some(isMisspelled)) {
    return refuse('validation_failed', 'The query parameter dryRun, written so and sent once, takes true or false.')
  }
  if (dryRun !== 'true') return 'dispatch'
  if (principal.sessionId === undefined) return 'dry_run'
  return insufficientScope('A dry run needs an application secret.')
}

/** Longer names are compared by their beginning. */
const LONGEST = 256

/** Finds other case, other alphabet width, other signs and typing errors: `dryRun[]`, `DryRun`, `options.dry_run`, `dryRn`. */
function isMisspelled(name: string): boolean {
  if (name === 'dryRun') return false
  const letters = name
    .slice(0, LONGEST)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
  return letters.includes('dryrun') || (letters.length < 9 && nearNames(letters, ['dryrun']).length > 0)
}

/**
 * Limits a session token to its grant: its own session, and only listed events, recipients and channels. Gives the request with its
 * `sessionId` filled in. An application may dispatch everything.
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

/** No session token lives longer than a day; some verifiers are lenient about its end. */
const LONGEST_GRANT_MS = 48 * 3_600_000

const NO_QUOTA: Pick<Acceptance, 'quota'> = Object.freeze({})

/** The quota that the store counts for a token with `maxDispatches`: one counter for each token. */
export function quotaOf({ id, dispatch }: Principal): Pick<Acceptance, 'quota'> {
  const max = dispatch?.maxDispatches
  if (max === undefined) return NO_QUOTA
  const quota: SendLimit = { key: `grant ${id}`, max, windowMs: LONGEST_GRANT_MS }
  return { quota }
}

/** Refuses a valid token that has used up its quota. */
export function grantSpent(): Refused {
  const detail = 'The session token has dispatched as many events as it may. What was accepted stands.'
  return insufficientScope(detail, 'grant_spent')
}

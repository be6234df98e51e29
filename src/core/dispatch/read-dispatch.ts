import type { Issue } from '../../errors.ts'
import type { DispatchRequest, Warning } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import { checkQuery, queryInvalid } from '../answers/query.ts'
import { type HandlerRequest, isRefused, type Refused } from '../answers/result.ts'
import { insufficientScope } from '../authenticate.ts'
import { validate } from '../validate.ts'
import { authoriseDispatch } from './authorise-dispatch.ts'
import { dispatchSchema } from './dispatch-schema.ts'
import { readIdempotencyKey } from './idempotency.ts'

/** A valid request that its caller may send. */
export interface AskedDispatch {
  readonly mode: 'dispatch' | 'dry_run'
  /** The `Idempotency-Key`; a dry run has none. */
  readonly key: string | undefined
  readonly request: DispatchRequest
  /** `undefined`: no event has this name. */
  readonly event: CatalogEvent | undefined
  readonly warnings: readonly Warning[]
  /** Unknown fields that are probably known fields under another name. */
  readonly misnamed: readonly Issue[]
}

/** Reads the key, the mode and the body of a request, and limits it to what its caller may send. */
export function readDispatch(
  { headers, query, body }: HandlerRequest,
  principal: Principal,
  events: Pick<EventCatalog, 'find'>,
): AskedDispatch | Refused {
  const idempotency = readIdempotencyKey(headers)
  if (isRefused(idempotency)) return idempotency
  const mode = readMode(query, principal)
  if (isRefused(mode)) return mode
  const valid = validate(dispatchSchema, body)
  if (isRefused(valid)) return valid
  const { value, warnings, misnamed = [] } = valid
  const event = events.find(value.eventType)
  const request = authoriseDispatch(principal, value, event)
  if (isRefused(request)) return request
  const key = mode === 'dry_run' ? undefined : idempotency.key
  return { mode, key, request, event, warnings, misnamed }
}

/** Reads `?dryRun=true`. Only applications may request a dry run: it shows the host's data about a recipient. */
function readMode(query: HandlerRequest['query'] = {}, principal: Principal): 'dispatch' | 'dry_run' | Refused {
  const misdirected = checkQuery(query, ['dryRun'])
  if (misdirected) return misdirected
  const { dryRun } = query
  if (dryRun === undefined || dryRun === 'false') return 'dispatch'
  if (dryRun !== 'true') return queryInvalid('/dryRun', 'invalid', 'expected true or false, once')
  if (principal.sessionId === undefined) return 'dry_run'
  return insufficientScope('A dry run needs an application secret.')
}

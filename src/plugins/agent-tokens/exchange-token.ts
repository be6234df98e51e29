import { port, refusalOf } from '../../core/answers/fault.ts'
import { checkQuery } from '../../core/answers/query.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../../core/answers/result.ts'
import {
  bearerOf,
  insufficientScope,
  invalidToken,
  isBearerToken,
  isRefusal,
  MAX_TOKEN,
  refusedBy,
} from '../../core/authenticate.ts'
import { exchangeSchema } from '../../core/tokens/exchange-schema.ts'
import { invalid, validateKnown } from '../../core/validate.ts'
import { writeInstant } from '../../model/instants.ts'
import { isVisibleAscii, MAX_LEVELS, type Principal } from '../../model/principal.ts'
import type { TokenExchange, TokenExchangeAnswer } from '../../model/token-exchange.ts'
import { wrongReturn } from '../../options/wrong-return.ts'
import type { AuthVerifier, ExchangedToken, NarrowedToken } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import { narrowGrants } from './narrow-grants.ts'

export interface ExchangeDeps {
  readonly exchange: NonNullable<AuthVerifier['exchange']>
  readonly clock: Pick<Clock, 'now'>
  /** Called with the id of an exchanged token. */
  readonly onExchanged?: ((jti: string) => void) | undefined
}

const DEFAULT_LIFETIME_MS = 900_000

/**
 * Exchanges the session token of an authenticated caller for a narrower one, for a sub-agent (delegation of RFC 8693). Grants must lie
 * within those of the token; a longer lifetime is cut to its own.
 */
export async function exchangeToken(
  principal: Principal,
  { headers, body, query }: HandlerRequest,
  { exchange, clock, onExchanged }: ExchangeDeps,
): Promise<HandlerResult<TokenExchangeAnswer> | Refused> {
  const misdirected = checkQuery(query, [])
  if (misdirected) return misdirected
  if (principal.sessionId === undefined) return insufficientScope('Only a session token can be exchanged.')
  if ((principal.parents?.length ?? 0) >= MAX_LEVELS) {
    return insufficientScope(`The token is ${MAX_LEVELS} levels below the host's, and cannot be exchanged further.`)
  }
  // Unlike in other bodies, an unknown member is refused: it may be a limit.
  const asked = validateKnown(exchangeSchema, body)
  if (isRefused(asked)) return asked
  const narrowed = narrow(principal, asked, clock.now())
  if (isRefused(narrowed)) return narrowed
  const token = bearerOf(headers)
  if (isRefused(token)) return token
  const signed = await port('auth_unavailable', () => exchange(token, narrowed))
  if (isRefusal(signed)) return refusedBy(signed)
  if (!isWithin(signed, narrowed)) return refusalOf(wrongReturn('exchange() of the verifier', signed, SIGNED))
  if (signed.token.length > MAX_TOKEN) return tooLong(signed)
  onExchanged?.(signed.jti)
  return success(201, { token: signed.token, expiresAt: writeInstant(signed.expiresAt) })
}

function narrow(principal: Principal, asked: TokenExchange, now: number): NarrowedToken | Refused {
  const { runId = principal.runId, expiresInMs = DEFAULT_LIFETIME_MS } = asked
  const { expiresAt: end = Number.POSITIVE_INFINITY } = principal
  const narrowed = narrowGrants(principal, asked.grants)
  const isOtherRun = principal.runId !== undefined && runId !== principal.runId
  const issues = [
    ...('issues' in narrowed ? narrowed.issues : []),
    ...(isOtherRun
      ? [{ pointer: '/runId', code: 'not_allowed' as const, detail: 'the token is for another run' }]
      : []),
  ]
  if ('issues' in narrowed || issues.length > 0) {
    return { ...insufficientScope('The request exceeds what the token allows.'), errors: issues }
  }
  if (end <= now) return invalidToken('expired')
  return { ...narrowed, ...(runId !== undefined && { runId }), expiresAt: Math.min(end, now + expiresInMs) }
}

const SIGNED =
  "{ token, jti, expiresAt } with a bearer token, an id of 1-200 visible ASCII characters and epoch milliseconds up to the requested end, or { refused: 'invalid_token' }"

/** The verifier of a host may return any value. */
function isWithin(signed: unknown, { expiresAt: latest }: NarrowedToken): signed is ExchangedToken {
  const { token, jti, expiresAt } = Object(signed)
  const isEnd = typeof expiresAt === 'number' && expiresAt >= 0 && expiresAt <= latest
  return isEnd && isBearerToken(token) && isVisibleAscii(jti)
}

function tooLong({ token }: ExchangedToken): Refused {
  const detail = `the token would have ${token.length} characters, over the ${MAX_TOKEN} that fit: grant fewer names`
  return invalid([{ pointer: '/grants', code: 'too_long', detail }])
}

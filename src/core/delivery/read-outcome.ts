import type { AttemptEnd, ProviderEnd } from '../../model/attempt.ts'
import { isEnhancedStatus } from '../../model/enhanced-status.ts'
import type { RefusedAddress } from '../../model/suppression.ts'
import { isOutcome, noCode, noOutcome, OUTCOME_INVALID } from '../../options/send-outcome.ts'
import type { SendOutcome } from '../../ports/channel.ts'

/** End of one send. */
export interface Sent {
  readonly end: AttemptEnd
  readonly retryAfterMs?: number | undefined
  /** The channel refused the message without asking a provider. */
  readonly byChannel?: true
  /** The address is to be suppressed. */
  readonly suppress?: RefusedAddress
  /** The channel threw. */
  readonly thrown?: true
  readonly cause?: unknown
}

/** Stands for a code that is absent, or text of a provider. */
const CODE_INVALID = 'code_invalid'
const UNREADABLE: AttemptEnd = { outcome: 'unknown', code: OUTCOME_INVALID }

/** The channel returned no outcome, or one without a code. */
export function isMalformed(end: AttemptEnd): boolean {
  return isUnreadable(end) || end.code === CODE_INVALID
}

/** The channel may have sent, and will answer the same way again: no attempt follows. */
export function isUnreadable({ outcome, code }: AttemptEnd): boolean {
  return outcome === UNREADABLE.outcome && code === UNREADABLE.code
}

const MAX_PROVIDER_ID = 255

/** Validates the outcome of a host's channel. It may be unreadable, or contain text of a provider as its code. */
export function readOutcome(given: unknown): Sent {
  try {
    if (isOutcome(given)) return readMembers(given as SendOutcome)
  } catch {
    // A member threw when it was read.
  }
  return { end: UNREADABLE, cause: noOutcome(given) }
}

function readMembers(outcome: SendOutcome): Sent {
  const provider = readProviders(outcome)
  if (outcome.outcome === 'sent') {
    const { providerMessageId: id } = outcome
    const named = typeof id === 'string' && id.length <= MAX_PROVIDER_ID && { providerMessageId: id }
    return { end: { outcome: 'sent', ...provider, ...named } }
  }
  const code = readCode(outcome.code)
  const { enhancedStatus: status } = outcome
  const end = {
    outcome: outcome.outcome,
    code,
    ...provider,
    ...(isEnhancedStatus(status) && { enhancedStatus: status }),
  }
  const malformed = code === CODE_INVALID ? noCode(outcome.code) : undefined
  if (outcome.outcome === 'rejected') {
    const { by, suppress } = outcome
    return {
      end,
      ...(malformed && { cause: malformed }),
      ...(by === 'channel' && { byChannel: true }),
      ...((suppress === 'bounced' || suppress === 'unsubscribed') && { suppress }),
    }
  }
  const { retryAfterMs, cause = malformed } = outcome
  return { end, ...(typeof retryAfterMs === 'number' && { retryAfterMs }), ...(cause !== undefined && { cause }) }
}

const NAME = /^[\x21-\x7e]{1,64}$/
const CODE = /^[a-z][a-z0-9_]{0,63}$/
const MAX_PROVIDERS = 16

/** The code of an outcome for logs and records; it may be absent, or text of a provider. */
function readCode(code: unknown): string {
  return typeof code === 'string' && CODE.test(code) ? code : CODE_INVALID
}

/** Reads the providers of a channel's outcome. Invalid names are dropped: the outcome counts without them. */
function readProviders({ outcome, provider, providers }: SendOutcome): Pick<AttemptEnd, 'provider' | 'providers'> {
  const sender = outcome === 'sent' ? provider : undefined
  const ends = Array.isArray(providers) ? providers.slice(0, MAX_PROVIDERS).flatMap((end) => readEnd(end, sender)) : []
  return { ...(isName(provider) && { provider }), ...(ends.length > 0 && { providers: ends }) }
}

function readEnd(given: unknown, sender: string | undefined): readonly ProviderEnd[] {
  const { name, code }: { readonly name?: unknown; readonly code?: unknown } = Object(given)
  if (!isName(name)) return []
  if (name === sender) return [{ name }]
  return [{ name, code: readCode(code) }]
}

function isName(given: unknown): given is string {
  return typeof given === 'string' && NAME.test(given)
}

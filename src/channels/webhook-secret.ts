import { SallyportError } from '../errors.ts'
import { withTimeout } from '../model/time-out.ts'
import { wrongReturn } from '../options/wrong-return.ts'
import type { OutboundMessage, SendOutcome } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { readSecrets, SECRET_FORM, type Signers } from './webhook-signature.ts'

/** The secret of an endpoint. During a rotation: several, each of which signs. */
export type WebhookSecret = string | readonly string[]

/** The receiver of one delivery. */
export interface WebhookEndpoint {
  /** Address of the delivery. */
  readonly url: string
  /** Id of the recipient, as in the dispatch. */
  readonly recipient: string
  readonly tenant: string
}

/** Returns the secret of an endpoint. */
export type FindWebhookSecret = (
  endpoint: WebhookEndpoint,
) => WebhookSecret | undefined | Promise<WebhookSecret | undefined>

/** Finds the signers of one attempt, or returns the outcome of the attempt. */
type FindSigners = (message: OutboundMessage, signal: AbortSignal) => Promise<Signers | SendOutcome>

const TIMED_OUT = /* @__PURE__ */ Symbol('no secret in time')

export function signerFinder(
  secret: WebhookSecret | FindWebhookSecret,
  { timeoutMs, clock }: { readonly timeoutMs: number; readonly clock: Clock },
): FindSigners {
  if (typeof secret !== 'function') {
    const signers = signersOf(secret)
    return async () => signers
  }
  return async ({ to: url, recipient, tenant }, signal) => {
    try {
      const finding = Promise.resolve(secret({ url, recipient, tenant }))
      const found = await withTimeout(finding, { ms: timeoutMs, clock, signal, fallback: () => TIMED_OUT })
      return found === TIMED_OUT
        ? fault('secret_timeout', new SallyportError('no_answer', `${CALL} did not answer within ${timeoutMs} ms`))
        : signersOf(found)
    } catch (cause) {
      if (signal.aborted) return { outcome: 'retry', code: 'aborted' }
      const sentence = `${CALL} threw instead of returning ${SECRET_FORM}`
      return fault('secret_error', new SallyportError('answer_invalid', sentence, [], { cause }))
    }
  }
}

const CALL = 'secret() of the webhook channel'

function signersOf(found: unknown): Signers | SendOutcome {
  const signers = readSecrets(found)
  if (signers) return signers
  return fault(found === undefined ? 'secret_missing' : 'secret_invalid', wrongReturn(CALL, found, SECRET_FORM))
}

function fault(code: string, cause: unknown): SendOutcome {
  return { outcome: 'retry', code, cause }
}

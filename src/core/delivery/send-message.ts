import type { AttemptEnd } from '../../model/dispatch.ts'
import { isThrown } from '../../model/thrown.ts'
import type { Channel, SendOutcome } from '../../ports/channel.ts'
import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { type Hold, Interrupted } from './lease.ts'
import { faultPlaceOf } from './settlements.ts'

/** How a send ended. */
export interface Sent {
  readonly end: AttemptEnd
  readonly retryAfterMs?: number | undefined
  /** The channel threw, or gave no outcome. */
  readonly broken?: true
  /** An error that the channel caught, and could make nothing of. */
  readonly cause?: unknown
}

const THROWN: Sent = { end: { outcome: 'retry', code: 'channel_error' }, broken: true }
/** A channel that forgets to say how it ended may well have sent. */
const NO_OUTCOME: Sent = { end: { outcome: 'unknown', code: 'channel_error' }, broken: true }

/** Lets a channel send one message, for as long as the lease is held. `undefined`: the lease had gone to another. */
export async function sendMessage(
  channel: Channel,
  claimed: ClaimedDelivery,
  hold: Hold,
  deps: FaultDeps,
): Promise<Sent | undefined> {
  const { deliveryId, attempts: attempt, address: to, content = {}, history, dispatch } = claimed
  const { eventType, dispatchId, tenant, locale, createdAt } = dispatch
  const message = { to, content, eventType, dispatchId, tenant, createdAt, ...(locale !== undefined && { locale }) }
  const context = {
    deliveryId,
    attempt,
    history,
    // A channel that has no use for it need not have one made.
    get signal() {
      return hold.signal
    },
  }
  const report = (cause: unknown): void => {
    const line = { level: 'error', event: 'channel.threw', fields: { attempt } } as const
    reportFault(cause, { operation: 'channel', ...faultPlaceOf(claimed) }, line, deps)
  }
  try {
    const given: unknown = await hold.during(async () => channel.send(message, context))
    const sent = readOutcome(given)
    if (sent.broken) report(new TypeError('the channel gave no outcome'))
    else if (sent.cause !== undefined) report(sent.cause)
    return sent
  } catch (cause) {
    if (isThrown(cause, Interrupted)) return cause.code === 'lease_lost' ? undefined : calledOff(cause.code)
    // It was told to stop in the middle of it, and may have thrown for that.
    if (hold.aborted) return calledOff(hold.aborted)
    report(cause)
    return THROWN
  }
}

function calledOff(code: string): Sent {
  return { end: { outcome: 'unknown', code } }
}

const OUTCOMES: readonly unknown[] = ['sent', 'retry', 'unknown', 'rejected'] satisfies SendOutcome['outcome'][]

const CODE = /^[a-z][a-z0-9_]{0,63}$/
const PROVIDER = /^[\x21-\x7e]{1,64}$/
const MAX_PROVIDER_ID = 255

/** What a channel of the host's gave may be anything: an outcome that is none, or text of a provider's in the place of a code. */
function readOutcome(given: unknown): Sent {
  if (typeof given !== 'object' || given === null || !('outcome' in given) || !OUTCOMES.includes(given.outcome)) {
    return NO_OUTCOME
  }
  const outcome = given as SendOutcome
  const provider = isText(outcome.provider, PROVIDER) && { provider: outcome.provider }
  if (outcome.outcome === 'sent') {
    const { providerMessageId: id } = outcome
    const named = typeof id === 'string' && id.length <= MAX_PROVIDER_ID && { providerMessageId: id }
    return { end: { outcome: 'sent', ...provider, ...named } }
  }
  if (typeof outcome.code !== 'string') return NO_OUTCOME
  const code = CODE.test(outcome.code) ? outcome.code : 'code_invalid'
  const asked = outcome.outcome === 'rejected' ? undefined : outcome.retryAfterMs
  return {
    end: { outcome: outcome.outcome, code, ...provider },
    ...(typeof asked === 'number' && { retryAfterMs: asked }),
    ...(outcome.outcome !== 'rejected' && { cause: outcome.cause }),
  }
}

function isText(given: unknown, pattern: RegExp): given is string {
  return typeof given === 'string' && pattern.test(given)
}

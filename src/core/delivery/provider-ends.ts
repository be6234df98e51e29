import type { AttemptEnd, ProviderEnd } from '../../model/attempt.ts'
import type { SendOutcome } from '../../ports/channel.ts'
import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'
import type { Logger } from '../../ports/logger.ts'
import { placeOf } from './lease.ts'

const NAME = /^[\x21-\x7e]{1,64}$/
const CODE = /^[a-z][a-z0-9_]{0,63}$/
const MAX_PROVIDERS = 16

/** Stands for a code that is absent, or text of a provider. */
export const CODE_INVALID = 'code_invalid'

/** The code of an outcome for logs and records; it may be absent, or text of a provider. */
export function readCode(code: unknown): string {
  return typeof code === 'string' && CODE.test(code) ? code : CODE_INVALID
}

/** Reads the providers of a channel's outcome. Invalid names are dropped: the outcome counts without them. */
export function readProviders({
  outcome,
  provider,
  providers,
}: SendOutcome): Pick<AttemptEnd, 'provider' | 'providers'> {
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

/** Codes of providers that were not asked. */
const NOT_ASKED: readonly unknown[] = ['cooling_down', 'provider_waiting']

/** Logs each provider that did not send while the attempt continued with another. */
export function logFailedProviders(
  { provider, providers = [] }: AttemptEnd,
  claimed: ClaimedDelivery,
  logger: Logger,
): void {
  for (const { name, code } of providers) {
    if (code === undefined || name === provider || NOT_ASKED.includes(code)) continue
    logger.log('warn', 'provider.failed', { attempt: claimed.attempts, ...placeOf(claimed), provider: name, code })
  }
}

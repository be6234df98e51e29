import { membersOf } from '../model/json.ts'
import { tierOf } from '../model/service-tier.ts'
import type { Usage } from './members.ts'

/** Service tiers that LangChain in Python writes into the keys of its details: `flex`, `flex_cache_read`. */
export const LANGCHAIN_TIERS = ['flex', 'priority'] as const

/** Reads the service tier of a usage object, or of the provider's own object in that of the AI SDK. */
export function usageTier(usage: Usage): string | undefined {
  return tierOf(usage) ?? tierOf(membersOf(usage.raw) ?? {}) ?? langchainTier(usage)
}

/** `mixed`: the input is not of one tier, because the counts of several calls were added. */
function langchainTier({ input_tokens, input_token_details }: Usage): string | undefined {
  const details = membersOf(input_token_details) ?? {}
  const tier = LANGCHAIN_TIERS.find((name) => details[name] ?? details[`${name}_cache_read`])
  if (tier === undefined) return undefined
  const tokens = Number(details[tier] ?? 0) + Number(details[`${tier}_cache_read`] ?? 0)
  return tokens === input_tokens ? tier : 'mixed'
}

import { membersOf } from '../model/json.ts'
import { nameOf, type Path, type Reading } from './shape.ts'
import { LANGCHAIN_TIERS } from './tier.ts'

/** Members that are parts of a count, or repeat one, and have no price of their own. */
const WITHOUT_PRICE: ReadonlySet<string> = new Set([
  // The provider's own object, and a list of the calls that are summed.
  ...['raw', 'iterations', 'requestUsageEntries', 'request_usage_entries'],
  // Text, and input that no cache held: what is left of the whole.
  ...['text', 'text_tokens', 'textTokens', 'noCache', 'noCacheTokens'],
  ...['prompt_cache_miss_tokens', 'promptCacheMissTokens', 'cached_tokens_details', 'cachedTokensDetails'],
  // Shares of LangChain's service tiers.
  ...LANGCHAIN_TIERS,
])
/** Predicted output that was taken or not: within the output. */
const PREDICTION = /prediction_?tokens$/i
/** A rate is no count: `tokens_per_second`. */
const RATE = /_per_|Per[A-Z]/
const TOKEN = /token/i

/** Members with a positive number whose name says tokens, and which nothing has read. */
export function unreadMembers({ usage, seen }: Reading): Path[] {
  const unread: Path[] = []
  visit(usage, [], false)
  return unread

  function visit(members: Readonly<Record<string, unknown>>, parent: Path, isOfTokens: boolean): void {
    for (const name in members) {
      const value = members[name]
      if (typeof value === 'number') {
        if (value > 0 && (isOfTokens || TOKEN.test(name)) && !isKnown(name, parent)) unread.push([...parent, name])
      } else if (typeof value === 'object' && value !== null && !WITHOUT_PRICE.has(name)) {
        if (Array.isArray(value)) visitList(value, [...parent, name])
        else visit(value as Readonly<Record<string, unknown>>, [...parent, name], TOKEN.test(name))
      }
    }
  }

  function isKnown(name: string, parent: Path): boolean {
    const hasNoPrice = WITHOUT_PRICE.has(name) || PREDICTION.test(name) || RATE.test(name)
    return hasNoPrice || seen.has(nameOf([...parent, name]))
  }

  /** Details by modality, or by the life of a cache, are parts of a count. */
  function visitList(items: readonly unknown[], parent: Path): void {
    if (isBreakdown(items)) return
    items.forEach((item, index) => {
      const members = membersOf(item)
      const path = [...parent, String(index)]
      if (members && !seen.has(nameOf(path))) visit(members, path, false)
    })
  }

  function isBreakdown(items: readonly unknown[]): boolean {
    let sum = 0
    for (const item of items) {
      const { modality, ttl, tokenCount, token_count, tokens, inputTokens } = membersOf(item) ?? {}
      if (typeof (modality ?? ttl) !== 'string') return false
      sum += Number(tokenCount ?? token_count ?? tokens ?? inputTokens ?? 0)
    }
    return sum <= Math.max(...seen.values())
  }
}

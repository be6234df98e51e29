import type { Member } from './members.ts'
import type { Reading } from './spelling.ts'
import { LANGCHAIN_TIERS } from './tier.ts'

/** Parts of a count without a price of their own, in camel case: text, input that no cache held, and shares of LangChain's tiers. */
const WITHOUT_PRICE: ReadonlySet<string> = new Set([
  ...['text', 'textTokens', 'promptTextTokens', 'inputTextTokens', 'outputTextTokens'],
  ...['noCache', 'noCacheTokens', 'promptCacheMissTokens'],
  ...LANGCHAIN_TIERS,
])
/** Further such parts: predictions, text in OpenTelemetry, and pydantic-ai's compactions. */
const PART = /[Pp]rediction_?[Tt]okens$|\.text\.|compaction_/
/** Gemini bills video in a prompt as text. */
const VIDEO = /^(?:prompt|toolUsePrompt|input)Tokens(?:Details|ByModality)\/videoTokens$/
/** Names with `token` that are no counts, such as `tokens_per_second` and `maxOutputTokens`. */
const NO_COUNT =
  /_per_|Per[A-Z]|^max|[Ll]imit$|[Ff]irst_?[Tt]oken|(?:_time|Time|_latency|Latency|_ms|Ms|_cost|Cost|_price|Price)$/

/** Members with a positive number whose name says tokens, and which nothing has read. */
export function unreadMembers({ members, seen }: Reading): readonly Member[] {
  const greatest = [...seen].reduce((most, { value }) => Math.max(most, Number(value)), 0)
  const isPart = (place: string, { name, value, isItem }: Member): boolean => {
    const last = place.slice(Math.max(place.lastIndexOf('/'), place.lastIndexOf('.')) + 1)
    return (
      Number(value) <= greatest &&
      (WITHOUT_PRICE.has(last) || PART.test(name) || PART.test(last) || (isItem && VIDEO.test(place)))
    )
  }
  return [...members.at].flatMap(([place, found]) =>
    found.filter(
      (member) =>
        member.isOfTokens &&
        isPositive(member.value) &&
        !seen.has(member) &&
        !NO_COUNT.test(member.name) &&
        !isPart(place, member),
    ),
  )
}

/** True for a number above 0, also as text. */
function isPositive(value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'string') && Number(value) > 0
}

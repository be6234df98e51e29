import { membersOf } from '../model/json.ts'
import { pointerTo } from '../model/json-pointer.ts'

export type Usage = Readonly<Record<string, unknown>>

/** A member of a usage object that may be a count: any but an object. */
export interface Member {
  /** JSON pointer to the object or list that it is in, from the usage object. */
  readonly parent: string
  readonly name: string
  readonly value: unknown
  /** True in a list: the counts of its items are added. */
  readonly isItem: boolean
  /** True if its name, or that of the object it is in, says tokens, and it is not in an object that repeats other members. */
  readonly isOfTokens: boolean
}

/** The contents of a usage object. All names are in camel case, because SDKs change snake case to it. */
export interface UsageMembers {
  /** Names of the usage object's own members. */
  readonly names: ReadonlySet<string>
  /** Members by the names on the way to them: `promptTokensDetails/cachedTokens`. `*` stands for the index in a list. */
  readonly at: ReadonlyMap<string, readonly Member[]>
}

export function pointerOf({ parent, name }: Member): string {
  return pointerTo(parent, name)
}

/** Names that were converted before. Bounded, because callers choose them. */
const converted = new Map<string, string>()
const MAX_CONVERTED = 1000
const MAX_LENGTH = 64

export function camelCase(name: string): string {
  if (!name.includes('_')) return name
  const known = converted.get(name)
  if (known !== undefined) return known
  const result = name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, toUpper)
  if (converted.size < MAX_CONVERTED && name.length <= MAX_LENGTH) converted.set(name, result)
  return result
}

function toUpper(_: string, letter: string): string {
  return letter.toUpperCase()
}

/**
 * Objects and lists that repeat what the other members say, or divide a part of it: tokens of audio that were cached have no price while
 * those of audio have one of their own.
 */
const REPETITIONS: ReadonlySet<string> = new Set([
  ...['raw', 'requestUsageEntries', 'xDetails', 'contextDetails'],
  ...['cachedTokensDetails', 'cacheTokensDetails'],
])
/** Types of Anthropic's calls that the totals include: others are billed apart. */
const CALLS: ReadonlySet<unknown> = new Set(['message', 'compaction', 'fallback_message', undefined])
const TOKEN = /token/i

export function membersIn(usage: Usage): UsageMembers {
  const names = new Set<string>()
  const at = new Map<string, Member[]>()
  for (const name in usage) if ((usage[name] ?? undefined) !== undefined) names.add(camelCase(name))
  visit(usage, '', { parent: '', isItem: false, isRepeated: false, isOfTokens: false })
  return { names, at }

  function visit(object: Usage, path: string, within: Within): void {
    for (const name in object) {
      const value = object[name]
      if (value === undefined || value === null) continue
      const spelled = path + camelCase(name)
      const isOfTokens = TOKEN.test(name)
      if (typeof value !== 'object') {
        add(spelled, name, value, isOfTokens ? { ...within, isOfTokens } : within)
        continue
      }
      const isRepeated = within.isRepeated || REPETITIONS.has(camelCase(name))
      const below = { ...within, parent: pointerTo(within.parent, name), isRepeated, isOfTokens }
      if (!Array.isArray(value)) visit(value as Usage, `${spelled}/`, below)
      else {
        add(spelled, name, value, { ...within, isOfTokens: false })
        add(`${spelled}/length`, name, value.length || undefined, { ...within, isOfTokens: false })
        visitList(value, spelled, { ...below, isItem: true })
      }
    }
  }

  function visitList(items: readonly unknown[], path: string, within: Within): void {
    for (const [index, item] of items.entries()) {
      const members = membersOf(item)
      if (members === undefined) continue
      const { modality, ttl, type, tokenCount, token_count, tokens, inputTokens } = members
      const kind = modality ?? ttl
      if (kind === undefined) {
        const isRepeated = within.isRepeated || (path === 'iterations' && CALLS.has(type))
        visit(members, `${path}/*/`, { ...within, parent: `${within.parent}/${index}`, isRepeated, isOfTokens: false })
      } else if (typeof kind === 'string') {
        // Gemini's details by modality, and Bedrock's by the life of a cache, as the object that OpenAI writes.
        const count = tokenCount ?? token_count ?? tokens ?? inputTokens
        add(`${path}/${kind.toLowerCase()}Tokens`, String(index), count, { ...within, isOfTokens: true })
      }
    }
  }

  function add(spelled: string, name: string, value: unknown, within: Within): void {
    if (value === undefined || value === null) return
    const { parent, isItem, isRepeated } = within
    const member = { parent, name, value, isItem, isOfTokens: within.isOfTokens && !isRepeated }
    const before = at.get(spelled)
    if (before) before.push(member)
    else at.set(spelled, [member])
  }
}

interface Within {
  readonly parent: string
  readonly isItem: boolean
  readonly isRepeated: boolean
  readonly isOfTokens: boolean
}

import {
  ForTag,
  type Liquid,
  LiquidError,
  type RangeToken,
  type Template,
  type Token,
  Tokenizer,
  TokenKind,
  TypeGuards,
} from 'liquidjs'
import type { TemplateFault } from '../ports/template-engine.ts'
import { argumentFault } from './liquid-arguments.ts'

const MAX_SOURCE = 65_536
const MAX_NESTING = 32
const TOO_DEEP = 'The template nests too deeply to be parsed.'
const MAX_RANGE_START = 1_000_000
export const FACTS: ReadonlySet<string> = new Set(['data', 'recipient', 'events', 'links'])
const BLOCKS: ReadonlySet<string> = new Set(['if', 'unless', 'for', 'case', 'capture'])

export function parse(liquid: Liquid, source: string): readonly Template[] | TemplateFault {
  if (source.length > MAX_SOURCE) return { fault: `The template is longer than ${MAX_SOURCE} characters.` }
  try {
    const nested = nestingFault(liquid, source)
    if (nested) return nested
    const templates = liquid.parse(source)
    return tokenFault(liquid, templates) ?? rootFault(liquid, templates) ?? templates
  } catch (error) {
    return describe(error)
  }
}

/** Checks the depth before parsing, which is recursive. */
function nestingFault(liquid: Liquid, source: string): TemplateFault | undefined {
  let depth = 0
  let inComment = false
  for (const token of new Tokenizer(source, liquid.options.operators).readTopLevelTokens(liquid.options)) {
    if (!TypeGuards.isTagToken(token)) continue
    if (inComment || token.name === 'comment') inComment = token.name !== 'endcomment'
    else if (BLOCKS.has(token.name)) depth += 1
    else if (token.name.startsWith('end') && BLOCKS.has(token.name.slice(3))) depth -= 1
    if (depth > MAX_NESTING) return at(token, `Tags nest deeper than ${MAX_NESTING} levels.`)
  }
  return undefined
}

/**
 * Refuses constructs that the parser accepts: an unknown filter of `cycle`; wrong arguments of a filter; a range outside `for`, which is not charged; and a range that
 * starts at a variable, because counting up from 2^53 never ends.
 */
function tokenFault(liquid: Liquid, templates: readonly Template[]): TemplateFault | undefined {
  const seen = new Set<unknown>([liquid])
  const pending: unknown[] = [...templates]
  while (pending.length > 0) {
    const part = pending.pop()
    if (typeof part !== 'object' || part === null || seen.has(part)) continue
    seen.add(part)
    if (part instanceof ForTag && TypeGuards.isRangeToken(part.collection) && startsAtNumber(part.collection)) {
      seen.add(part.collection)
      pending.push(part.collection.rhs)
    }
    if (TypeGuards.isRangeToken(part)) {
      return at(part, `A range stands after "in" of "for", and starts at a number of at most ${MAX_RANGE_START}.`)
    }
    if (isFilterToken(part)) {
      const fault = Object.hasOwn(liquid.filters, part.name)
        ? argumentFault(part.name, part.args)
        : unknownFilter(part.name)
      if (fault !== undefined) return at(part, fault)
    }
    pending.push(...Object.values(part))
  }
  return undefined
}

/** Refuses names that are neither facts nor assigned: they would be missing at every rendering. */
function rootFault(liquid: Liquid, templates: readonly Template[]): TemplateFault | undefined {
  const { globals } = liquid.analyzeSync([...templates], { partials: false })
  for (const [name, uses] of Object.entries(globals)) {
    const place = uses[0]?.location
    if (FACTS.has(name) || !place) continue
    return {
      fault: `"${name}" is none of data, recipient, events and links; write data.${name}?`,
      line: place.row,
      column: place.col,
    }
  }
  return undefined
}

function startsAtNumber({ lhs }: RangeToken): boolean {
  return TypeGuards.isNumberToken(lhs) && Math.abs(lhs.content) <= MAX_RANGE_START
}

function isFilterToken(part: object): part is Token & { readonly name: string; readonly args: readonly unknown[] } {
  return 'kind' in part && part.kind === TokenKind.Filter && 'name' in part && 'input' in part && part.input !== ''
}

function describe(error: unknown): TemplateFault {
  if (!LiquidError.is(error)) return { fault: TOO_DEEP }
  if (error.originalError instanceof RangeError) return at(error.token, TOO_DEEP)
  const message = (error.originalError ?? error).message.replace(/, line:\d+, col:\d+$/, '')
  const tag = /^tag "(.+)" not found$/.exec(message)?.[1]
  const filter = /^undefined filter: (.+)$/.exec(message)?.[1]
  if (tag !== undefined) return at(error.token, unknownTag(tag))
  return at(
    error.token,
    filter === undefined ? `${message.charAt(0).toUpperCase()}${message.slice(1, 200)}.` : unknownFilter(filter),
  )
}

function unknownTag(name: string): string {
  const belongs = /^(?:end.*|else|elsif|when)$/.test(name)
  return belongs ? `The tag "${name}" belongs to nothing here.` : `The tag "${name}" is not available.`
}

function unknownFilter(name: string): string {
  return name === 'raw'
    ? 'The filter "raw" is not available: values are always escaped in HTML.'
    : `The filter "${name}" is not available.`
}

function at(token: Token, fault: string): TemplateFault {
  const [line, column] = token.getPosition()
  return line === undefined || column === undefined ? { fault } : { fault, line, column }
}

import {
  ForTag,
  Liquid,
  LiquidError,
  Parser,
  type RangeToken,
  type Template,
  type Token,
  Tokenizer,
  TokenKind,
  type TopLevelToken,
  TypeGuards,
} from 'liquidjs'
import type { TemplateFault } from '../ports/template-engine.ts'
import { argumentFault } from './liquid-arguments.ts'
import { ShownNumber } from './liquid-rendering.ts'
import { meantPath } from './meant-path.ts'

const MAX_SOURCE = 65_536
const MAX_NESTING = 32
/** Faults that are reported of one template. */
const MAX_FAULTS = 20
const TOO_DEEP = 'The template nests too deeply to be parsed.'
const MAX_RANGE_START = 1_000_000
export const FACTS: ReadonlySet<string> = new Set(['data', 'recipient', 'events', 'links'])
const BLOCKS: ReadonlySet<string> = new Set(['if', 'unless', 'for', 'case', 'capture'])

export function parse(liquid: Liquid, source: string): readonly Template[] | TemplateFault {
  if (source.length > MAX_SOURCE) return { fault: `The template is longer than ${MAX_SOURCE} characters.` }
  const parser = new ThoroughParser(liquid)
  const templates = parser.parseAll(source)
  const faults = [...parser.faults, ...checkParsed(liquid, templates, parser.skipped)]
  const [first, ...more] = faults.sort(byPosition).slice(0, MAX_FAULTS)
  if (first) return { ...first, ...(more.length > 0 && { more }) }
  keepDecimals(templates)
  return templates
}

function byPosition(one: TemplateFault, other: TemplateFault): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}

const NESTING = / not closed\.$| belongs to nothing here\.$/

/** Notes the fault of each output and tag, and goes on after it. An unknown filter is no fault for it. */
class ThoroughParser extends Parser {
  readonly faults: TemplateFault[] = []
  /** Text of the tags that have a fault. */
  skipped = ''
  readonly #liquid: Liquid

  constructor(liquid: Liquid) {
    const tolerant: Liquid = Object.assign(Object.create(liquid), {
      options: { ...liquid.options, strictFilters: false },
    })
    super(tolerant)
    this.#liquid = tolerant
  }

  parseAll(source: string): readonly Template[] {
    const { options } = this.#liquid
    try {
      const tokens = new Tokenizer(source, options.operators).readTopLevelTokens(options)
      const nested = nestingFault(tokens)
      if (!nested) return this.parseTokens(tokens)
      this.faults.push(nested)
      return []
    } catch (error) {
      this.faults.push(describe(error))
      // An output or tag does not end: only what precedes it can be read.
      const end = LiquidError.is(error) ? error.token.begin : 0
      this.skipped += source.slice(end)
      return end > 0 && end < source.length ? this.parseAll(source.slice(0, end)) : []
    }
  }

  override parseToken(...[token, rest]: Parameters<Parser['parseToken']>): ReturnType<Parser['parseToken']> {
    try {
      return super.parseToken(token, rest)
    } catch (error) {
      this.#note(error, token)
      return this.#blank()
    }
  }

  #blank(): ReturnType<Parser['parseToken']> {
    const [text] = new Tokenizer(' ').readTopLevelTokens()
    return super.parseToken(text as TopLevelToken, [])
  }

  /** After a tag that was skipped, others seem to be unclosed or to belong to nothing. */
  #note(error: unknown, token: TopLevelToken): void {
    const fault = describe(error)
    if (this.skipped !== '' && NESTING.test(fault.fault)) return
    if (TypeGuards.isTagToken(token)) this.skipped += token.getText()
    this.faults.push(fault)
  }
}
/** Checks the depth before parsing, which is recursive. */
function nestingFault(tokens: readonly TopLevelToken[]): TemplateFault | undefined {
  let depth = 0
  let inComment = false
  for (const token of tokens) {
    if (!TypeGuards.isTagToken(token)) continue
    if (inComment || token.name === 'comment') inComment = token.name !== 'endcomment'
    else if (BLOCKS.has(token.name)) depth += 1
    else if (token.name.startsWith('end') && BLOCKS.has(token.name.slice(3))) depth -= 1
    if (depth > MAX_NESTING) return at(token, `Tags nest deeper than ${MAX_NESTING} levels.`)
  }
  return undefined
}

/** @param skipped Text that was not parsed. */
function checkParsed(liquid: Liquid, templates: readonly Template[], skipped: string): readonly TemplateFault[] {
  try {
    return [...tokenFaults(liquid, templates), ...rootFaults(liquid, templates, skipped)]
  } catch (error) {
    return [describe(error)]
  }
}

/**
 * Refuses constructs that the parser accepts: unknown filters; wrong arguments of a filter; a range outside `for`, which is not charged;
 * and a range that starts at a variable, because counting up from 2^53 never ends.
 */
function tokenFaults(liquid: Liquid, templates: readonly Template[]): readonly TemplateFault[] {
  const faults: TemplateFault[] = []
  const allowed = new Set<object>()
  for (const part of partsOf(templates)) {
    if (part instanceof ForTag && TypeGuards.isRangeToken(part.collection) && startsAtNumber(part.collection)) {
      allowed.add(part.collection)
    }
    if (TypeGuards.isRangeToken(part) && !allowed.has(part)) {
      faults.push(at(part, `A range stands after "in" of "for", and starts at a number of at most ${MAX_RANGE_START}.`))
    }
    if (isFilterToken(part)) {
      const fault = Object.hasOwn(liquid.filters, part.name)
        ? argumentFault(part.name, part.args)
        : unknownFilter(part.name)
      if (fault !== undefined) faults.push(at(part, fault))
    }
  }
  return faults
}

/** Every object of parsed templates, each before those that it holds. */
function* partsOf(templates: readonly Template[]): Generator<object, void> {
  const seen = new Set<object>()
  const pending: unknown[] = [...templates]
  while (pending.length > 0) {
    const part = pending.pop()
    if (typeof part !== 'object' || part === null || part instanceof Liquid || seen.has(part)) continue
    seen.add(part)
    yield part
    pending.push(...Object.values(part))
  }
}

/** Makes whole decimals of a template, such as `100.0`, decimals: the library reads them as integers. Leaves indexes of lists. */
function keepDecimals(templates: readonly Template[]): void {
  const indexes = new Set<unknown>()
  for (const part of partsOf(templates)) {
    if (TypeGuards.isPropertyAccessToken(part)) for (const prop of part.props) indexes.add(prop)
    if (!TypeGuards.isNumberToken(part) || indexes.has(part)) continue
    if (part.getText().includes('.') && Number.isSafeInteger(part.content))
      Object.assign(part, { content: new ShownNumber(`${part.content}.0`) })
  }
}

/** Refuses names that are neither facts nor assigned: they would be missing at every rendering. */
function rootFaults(liquid: Liquid, templates: readonly Template[], skipped: string): readonly TemplateFault[] {
  const { globals } = liquid.analyzeSync([...templates], { partials: false })
  const assignable = new Set(skipped.split(/[^\w-]+/))
  return Object.entries(globals).flatMap(([name, uses]) => {
    const [use] = uses
    const place = use?.location
    if (FACTS.has(name) || !place || assignable.has(name)) return []
    return {
      fault: `"${name}" is none of data, recipient, events and links; write ${meantPath(String(use))}?`,
      line: place.row,
      column: place.col,
    }
  })
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

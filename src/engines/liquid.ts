/**
 * Templates as strings, in Liquid, locked down: no files, no inheritance, bounded work.
 *
 * @module sallyport/liquid
 */
import { type Context, Liquid, LiquidError, type Template, TypeGuards, UndefinedVariableError } from 'liquidjs'
import { matching } from '../options/checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import type { CompiledTemplate, Rendering, TemplateEngine, TemplateFacts } from '../ports/template-engine.ts'
import { parse } from './liquid-check.ts'
import { allowedFilters } from './liquid-filters.ts'
import { boundedOperators } from './liquid-operators.ts'
import {
  ABSENT,
  charge,
  escapeHtml,
  PlainContext,
  RenderedText,
  RenderFault,
  RenderInSlices,
  TextEmitter,
  toText,
} from './liquid-rendering.ts'
import { ALLOWED_TAGS } from './liquid-tags.ts'

/** How dates are written. */
export interface LiquidOptions {
  /** BCP 47, for the names of months and days. Default `en-US`, wherever the process runs. */
  readonly locale?: string
  /** IANA name, for `date` without a time zone of its own. Default `UTC`, wherever the process runs. */
  readonly timeZone?: string
}

const MEMORY_LIMIT = 1_000_000

const CHECKS: Checks<LiquidOptions> = {
  locale: matching((value) => isKnown('locale', value), 'must be a BCP 47 locale that this runtime knows'),
  timeZone: matching((value) => isKnown('timeZone', value), 'must be an IANA time zone that this runtime knows'),
}

function isKnown(what: keyof LiquidOptions, name: unknown): boolean {
  if (typeof name !== 'string') return false
  try {
    return Boolean(
      what === 'locale' ? new Intl.DateTimeFormat(name) : new Intl.DateTimeFormat('en', { timeZone: name }),
    )
  } catch {
    return false
  }
}

/**
 * Renders templates that are written in [Liquid](https://liquidjs.com).
 *
 * Tags: `assign capture case if unless for break continue cycle comment raw #`. Filters: text (`append prepend
 * capitalize downcase upcase strip lstrip rstrip strip_newlines squish truncate truncatewords strip_html url_encode
 * remove remove_first replace replace_first split escape escape_once newline_to_br`), numbers (`abs at_least at_most
 * ceil divided_by floor minus modulo plus round times`), lists (`compact concat first join last map reverse size slice
 * sort sum uniq where`), `date` and `default`. Every other tag or filter stops start-up, `include`, `render`, `layout`
 * and `raw` among them: a template reads no file, and no value reaches HTML unescaped. Nothing is escaped twice: not a
 * capture, and not what `escape`, `escape_once` or `newline_to_br` gives where it is the last filter.
 *
 * A variable that is absent makes the rendering `missing`, except in a condition (`{% if data.x %}`) and where
 * `default` is its first filter; one that is `null` is there, and empty. Only own properties are seen. An object has no
 * text.
 *
 * Limits: a template has at most 65,536 characters and 32 nested tags, and is refused at start-up otherwise. A
 * rendering gives at most 262,144 characters and does at most 1,000,000 units of work: one for a character that it
 * handles, four for a character of tag that a loop runs through and for a list element, 1,500 for the name of a month.
 * Past that the outcome is `error`, on every machine alike; a running time of 2 s is a backstop. A rendering yields to the event loop
 * every 8 ms, and then returns a promise. No code is generated.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export function liquid(options: LiquidOptions = {}): TemplateEngine {
  const { locale = 'en-US', timeZone = 'UTC' } = readOptions('liquid', options, CHECKS)
  const engines = { html: lockedDown('html', locale, timeZone), none: lockedDown('none', locale, timeZone) }
  return {
    compile(source, escaping) {
      const engine = engines[escaping]
      const parsed = parse(engine, source)
      return 'fault' in parsed ? parsed : compiled(engine, [...parsed])
    },
  }
}

function lockedDown(escaping: 'html' | 'none', locale: string, timeZone: string): Liquid {
  const engine = new Liquid({
    templates: {},
    dynamicPartials: false,
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: true,
    lenientIf: true,
    locale,
    timezoneOffset: timeZone === 'UTC' ? 0 : timeZone,
    operators: boundedOperators(),
    outputEscape: escaping === 'html' ? htmlOutput : textOutput,
    memoryLimit: MEMORY_LIMIT,
  })
  for (const name of Object.keys(engine.tags)) delete engine.tags[name]
  for (const [name, tag] of Object.entries(ALLOWED_TAGS)) engine.registerTag(name, tag)
  for (const name of Object.keys(engine.filters)) engine.unregisterFilter(name)
  for (const [name, filter] of allowedFilters(escaping)) engine.registerFilter(name, filter)
  return engine
}

function htmlOutput(this: { context: Context }, value: unknown): string {
  const text = value instanceof RenderedText ? value.valueOf() : escapeHtml(toText(value, this.context))
  charge(this.context, text.length)
  return text
}

/** Escapes nothing, but charges for output: without an output filter the library would not. */
function textOutput(this: { context: Context }, value: unknown): string {
  const text = toText(value, this.context)
  charge(this.context, text.length)
  return text
}

function compiled(engine: Liquid, templates: Template[]): CompiledTemplate {
  return (facts) => {
    const emitter = new TextEmitter()
    const work = new RenderInSlices((renderLimit) =>
      engine.renderer.renderTemplates(templates, contextOf(engine, facts, renderLimit), emitter),
    )
    return runSlice(work, emitter) ?? runSlices(work, emitter)
  }
}

function contextOf(engine: Liquid, facts: TemplateFacts, renderLimit: Context['renderLimit']): Context {
  return new PlainContext(facts, engine.options, { sync: true }, { liquid: engine, renderLimit })
}

/** Returns `undefined` until the rendering is done. */
function runSlice(work: RenderInSlices, emitter: TextEmitter): Rendering | undefined {
  try {
    return work.runSlice() ? { outcome: 'rendered', text: emitter.buffer } : undefined
  } catch (error) {
    return failure(error)
  }
}

async function runSlices(work: RenderInSlices, emitter: TextEmitter): Promise<Rendering> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve))
    const rendering = runSlice(work, emitter)
    if (rendering) return rendering
  }
}

function failure(error: unknown): Rendering {
  if (error instanceof UndefinedVariableError && error.originalError === ABSENT) {
    return { outcome: 'missing', path: pathOf(error) }
  }
  if (!LiquidError.is(error)) return { outcome: 'error', ...reason(error) }
  const [line, column] = error.token.getPosition()
  const { detail, ...rest } = reason(error.originalError)
  return { outcome: 'error', detail: `${detail} (line ${line}, column ${column})`, ...rest }
}

/** The detail quotes only messages that hold no value of the facts. */
function reason(error: unknown): Omit<Extract<Rendering, { outcome: 'error' }>, 'outcome'> {
  if (error instanceof RenderFault) return { detail: error.message }
  const message = error instanceof Error ? error.message : ''
  if (message === 'memory alloc limit exceeded') return { detail: 'the rendering works on too much data' }
  return { detail: 'the template could not be rendered', cause: error }
}

/** The path as the template writes it: an index computed from facts is not repeated. */
function pathOf({ token }: UndefinedVariableError): string {
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return token.getText()
  const names = token.props.map((prop) => ('content' in prop ? String(prop.content) : undefined))
  return names.includes(undefined) ? token.getText() : names.join('.')
}

/**
 * Templates as strings in Liquid, without files or inheritance, with bounded work.
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

/** Options of {@link liquid}. */
export interface LiquidOptions {
  /** BCP 47, for the names of months and days. Default `en-US`, on every machine. */
  readonly locale?: string
  /** IANA name, for `date` without a time zone. Default `UTC`, on every machine. */
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
 * Renders templates in [Liquid](https://liquidjs.com).
 *
 * Tags: `assign capture case if unless for break continue cycle comment raw #`. Filters: text (`append prepend capitalize downcase upcase
 * strip lstrip rstrip strip_newlines squish truncate truncatewords strip_html url_encode remove remove_first replace replace_first split
 * escape escape_once newline_to_br safe_url`), numbers (`abs at_least at_most ceil divided_by floor minus modulo plus round times`),
 * lists (`compact concat first join last map reverse size slice sort sum uniq where`), `date` and `default`. Any other tag or filter
 * stops start-up, including `include`, `render`, `layout` and the filter `raw`: a template reads no file, and no value reaches HTML
 * unescaped. A filter with too few or too many arguments stops it too. Nothing is escaped twice: neither a capture nor the output of `escape`, `escape_once` or `newline_to_br` as the last filter.
 *
 * An absent variable makes the rendering `missing`, except in a condition (`{% if data.x %}`) and if `default` is its first filter;
 * `null` is present and empty. Only own properties are read. An object has no text.
 *
 * A division by zero, or a number beyond the range of JavaScript, is an `error`. Text that is no number counts as 0.
 *
 * Limits: templates with more than 65,536 characters or 32 nested tags are refused at start-up. A rendering outputs at most 262,144
 * characters and does at most 1,000,000 units of work: one per processed character, four per character of a tag in a loop and per list
 * element, 1,500 per name of a month. Above that the outcome is `error`, the same on every machine; a running time of 2 s is a backstop.
 * A rendering yields to the event loop every 8 ms, and then returns a promise. It generates no code.
 * @throws SallyportError `option_invalid`, with all problems of the options.
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

/** Charges for output: without an output filter the library would not. */
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

/** The detail quotes only messages that contain no value of the facts. */
function reason(error: unknown): Omit<Extract<Rendering, { outcome: 'error' }>, 'outcome'> {
  if (error instanceof RenderFault) return { detail: error.message }
  const message = error instanceof Error ? error.message : ''
  if (message === 'memory alloc limit exceeded') return { detail: 'the rendering works on too much data' }
  return { detail: 'the template could not be rendered', cause: error }
}

/** The path as written in the template: does not repeat an index that was computed from facts. */
function pathOf({ token }: UndefinedVariableError): string {
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return token.getText()
  const names = token.props.map((prop) => ('content' in prop ? String(prop.content) : undefined))
  return names.includes(undefined) ? token.getText() : names.join('.')
}

import { type Context, Liquid } from 'liquidjs'
import { allowedFilters } from './liquid-filters.ts'
import { boundedOperators } from './liquid-operators.ts'
import { charge, escapeHtml, MAX_WORK, RenderedText, toText } from './liquid-rendering.ts'
import { ALLOWED_TAGS } from './liquid-tags.ts'

/** The library with the allowed tags and filters only. */
export function lockedDown(escaping: 'html' | 'none', locale: string, timeZone: string): Liquid {
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
    memoryLimit: MAX_WORK,
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

/**
 * Templates as strings in Liquid, without files or inheritance, with bounded work.
 * @module sallyport/liquid
 */
import { locale, timeZone } from '../options/intl-checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import type { TemplateEngine } from '../ports/template-engine.ts'
import { parse } from './liquid-check.ts'
import { lockedDown } from './liquid-engine.ts'
import { compileTemplate } from './liquid-template.ts'

/** Options of {@link liquid}. */
export interface LiquidOptions {
  /** BCP 47, for the names of months and days. Default `en-US`, on every machine. */
  readonly locale?: string
  /** IANA name, for `date` without a time zone. Default `UTC`, on every machine. */
  readonly timeZone?: string
}

const CHECKS: Checks<LiquidOptions> = { locale, timeZone }

/**
 * Renders templates in [Liquid](https://liquidjs.com).
 *
 * Tags: `assign capture case if unless for break continue cycle comment raw #`. Filters: text (`append prepend capitalize downcase upcase
 * strip lstrip rstrip strip_newlines squish truncate truncatewords strip_html url_encode remove remove_first replace replace_first split
 * escape escape_once newline_to_br safe_url`), numbers (`abs at_least at_most ceil divided_by floor minus modulo plus round times`),
 * lists (`compact concat first join last map reverse size slice sort sum uniq where`), `date` and `default`. Any other tag or filter
 * stops start-up, including `include`, `render`, `layout` and the filter `raw`: a template reads no file, and no value reaches HTML
 * unescaped. A filter with too few or too many arguments stops it too. Nothing is escaped twice: neither a capture nor the output of
 * `escape`, `escape_once` or `newline_to_br` as the last filter.
 *
 * An absent variable makes the rendering `missing`, except in a condition (`{% if data.x %}`) and if `default` is its first filter;
 * `null` is present and empty. Only own properties are read. An object has no text.
 *
 * Numbers count as in Shopify's Liquid: exactly, as decimals, up to 40 digits (`0.1 | plus: 0.2` is `0.3`), and integers divide as
 * integers (`7 | divided_by: 2` is `3`; with `2.0` it is `3.5`). A whole decimal is shown as `995.0`; `round` makes it an integer. JSON
 * does not tell 5.0 from 5: both are integers. A text counts as the number that it is or the integer with which it begins, others as 0. A
 * division by zero, or a number beyond the range of JavaScript, is an `error`.
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
      return 'fault' in parsed ? parsed : compileTemplate(engine, [...parsed])
    },
  }
}

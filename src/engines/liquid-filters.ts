import { type Context, type FilterImplOptions, filters as library, toValue, toValueSync } from 'liquidjs'
import { parseUrl } from '../model/parse-url.ts'
import { NUMBER_FILTERS, sum } from './liquid-numbers.ts'
import { same } from './liquid-operators.ts'
import {
  charge,
  chargeSearch,
  checkTime,
  escapeHtml,
  type Handler,
  RenderFault,
  toText,
  unescapeHtml,
} from './liquid-rendering.ts'

const MAX_DATE = 64
const MAX_FORMAT = 100
/** Charge for the name of a month or a day, which needs a formatter (50 microseconds). A time zone needs two. */
const DATE_WORD = 1500
const WORDS = /%[-_0^#:]*\d*[aAbBhcxX]/g

const TEXT = [
  ...['append', 'prepend', 'capitalize', 'downcase', 'upcase', 'strip', 'lstrip', 'rstrip', 'strip_newlines', 'squish'],
  ...['truncate', 'truncatewords', 'strip_html', 'url_encode'],
]
const SEARCH = ['remove', 'remove_first', 'replace', 'replace_first', 'split']
const LIST = ['compact', 'concat', 'default', 'first', 'last', 'reverse', 'size', 'uniq']

/**
 * The cost of one call is bounded, because limits are checked between calls. Excluded are `raw`, `json`, expression filters such as
 * `where_exp`, and all filters that hash or decode.
 */
export function allowedFilters(escaping: 'html' | 'none'): ReadonlyMap<string, FilterImplOptions> {
  return new Map<string, FilterImplOptions>([
    ...TEXT.map((name) => [name, textFilter(original(name))] as const),
    ...SEARCH.map((name) => [name, searchFilter(original(name))] as const),
    ...Object.entries(NUMBER_FILTERS),
    ...LIST.map((name) => [name, timedFilter(original(name))] as const),
    ...Object.entries(LIST_FILTERS),
    ['slice', sliceFilter(original('slice'))],
    ['date', dateFilter(original('date'))],
    ['safe_url', textFilter(safeUrl)],
    ...Object.entries(escaping === 'html' ? HTML_ESCAPES : TEXT_ESCAPES),
  ])
}

function original(name: string): Handler {
  const filter = library[name]
  if (typeof filter !== 'function') throw new Error(`liquidjs has no filter ${name}`)
  return filter
}

function timedFilter(handler: Handler): Handler {
  return function (...values: Parameters<Handler>): unknown {
    checkTime(this.context)
    const [value, ...rest] = values.map((item) => toValue(item))
    return handler.call(this, value, ...rest)
  }
}

function textFilter(handler: Handler): Handler {
  return function (value: unknown, ...rest: unknown[]): unknown {
    checkTime(this.context)
    const text = toText(value, this.context)
    charge(this.context, text.length)
    return handler.call(
      this,
      text,
      ...rest.map((item) => (typeof item === 'object' ? toText(item, this.context) : item)),
    )
  }
}

function sliceFilter(handler: Handler): Handler {
  return function (value: unknown, ...rest: unknown[]): unknown {
    checkTime(this.context)
    const sliced = Array.isArray(value) ? value : toText(value, this.context)
    charge(this.context, sliced.length)
    return handler.call(this, sliced, ...rest)
  }
}

function searchFilter(handler: Handler): Handler {
  return function (value: unknown, pattern: unknown, ...rest: unknown[]): unknown {
    checkTime(this.context)
    const [text, wanted, ...texts] = [value, pattern, ...rest].map((item) => toText(item, this.context))
    chargeSearch(this.context, text ?? '', wanted ?? '')
    return handler.call(this, text, wanted, ...texts)
  }
}

/** Returns a value that is no date unchanged, as Liquid does. */
function dateFilter(handler: Handler): Handler {
  return function (given: unknown, format: unknown, zone: unknown): unknown {
    checkTime(this.context)
    const value: unknown = toValue(given)
    if (typeof value !== 'number' && (typeof value !== 'string' || value.length > MAX_DATE)) return value
    const [pattern, where] = [toTextOrNothing(format, this.context), toTextOrNothing(zone, this.context)]
    if (typeof pattern === 'string' && pattern.length > MAX_FORMAT) throw new RenderFault('a date format is too long')
    if (typeof where === 'string' && where.length > MAX_DATE) throw new RenderFault('a time zone is too long')
    const words = typeof pattern === 'string' ? (pattern.match(WORDS)?.length ?? 0) : 2
    const inZone = typeof (where ?? this.context.opts.timezoneOffset) === 'string'
    charge(this.context, DATE_WORD * (words + (inZone ? 2 : 0)))
    return handler.call(this, value, pattern, where)
  }
}

function toTextOrNothing(value: unknown, context: Context): unknown {
  return typeof value === 'number' ? value : value === null || value === undefined ? undefined : toText(value, context)
}

const TEXT_ESCAPES: Readonly<Record<string, FilterImplOptions>> = {
  escape: escaper(escapeHtml),
  escape_once: escaper((text) => escapeHtml(unescapeHtml(text))),
  newline_to_br: escaper(breakLines),
}

/** Their output is escaped: `raw` prevents a second escape if the filter is last. */
const HTML_ESCAPES: Readonly<Record<string, FilterImplOptions>> = {
  escape: { raw: true, handler: escaper(escapeHtml) },
  escape_once: { raw: true, handler: escaper((text) => escapeHtml(unescapeHtml(text))) },
  newline_to_br: { raw: true, handler: escaper((text) => breakLines(escapeHtml(unescapeHtml(text)))) },
}

function escaper(change: (text: string) => string): Handler {
  return function (value: unknown): string {
    checkTime(this.context)
    const text = change(toText(value, this.context))
    charge(this.context, text.length)
    return text
  }
}

function breakLines(text: string): string {
  return text.replace(/\r?\n/g, '<br />\n')
}

type Call = ThisParameterType<Handler>

const MAX_PATH = 200

/** List filters that the library does not bound: a list can contain one big value many times. */
const LIST_FILTERS: Readonly<Record<string, Handler>> = {
  join(value: unknown, separator: unknown) {
    const between = separator === undefined ? ' ' : toText(separator, this.context)
    const texts = list(value, this).map((item) => {
      const text = toText(item, this.context)
      charge(this.context, text.length + between.length)
      return text
    })
    return texts.join(between)
  },
  map(value: unknown, property: unknown) {
    const path = segments(property)
    return list(value, this).map((item) => pick(item, path))
  },
  sort(value: unknown, property: unknown) {
    const path = property === undefined ? [] : segments(property)
    const keyed = list(value, this).map((item) => {
      const key = pick(item, path)
      charge(this.context, 32 * (typeof key === 'string' ? key.length + 1 : 1))
      return { item, key }
    })
    return keyed.sort((left, right) => compare(left.key, right.key)).map(({ item }) => item)
  },
  sum(value: unknown, property: unknown) {
    const path = property === undefined ? [] : segments(property)
    return sum(list(value, this).map((item) => pick(item, path)))
  },
  where(value: unknown, property: unknown, expected: unknown) {
    const path = segments(property)
    return list(value, this).filter((item) => {
      const found = pick(item, path) ?? null
      return expected === undefined
        ? found !== null && found !== false
        : toValueSync(same(found, expected, this.context))
    })
  },
}

function list(given: unknown, { context }: Call): readonly unknown[] {
  checkTime(context)
  const value: unknown = toValue(given)
  const items: readonly unknown[] = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]
  charge(context, 4 * items.length)
  return items
}

function segments(property: unknown): readonly string[] {
  if (typeof property !== 'string' || property.length > MAX_PATH || /[[\]]/.test(property))
    throw new RenderFault('a property is named by a short text without brackets')
  return property.split('.')
}

function pick(item: unknown, path: readonly string[]): unknown {
  let value = item
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

function compare(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0
  return rank(left) - rank(right)
}

function rank(value: unknown): number {
  return typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2
}

const SAFE: readonly string[] = ['http:', 'https:', 'mailto:']

/**
 * Allows http, https and mailto. Returns the URL as parsed, so that case, control characters and white space cannot hide a scheme. Encodes
 * spaces, which the parser leaves in mailto.
 */
function safeUrl(text: string): string {
  const url = parseUrl(text)
  return url && SAFE.includes(url.protocol) ? url.href.replaceAll(' ', '%20') : '#'
}

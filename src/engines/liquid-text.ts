import { type Context, Drop, type Emitter, type FilterImplOptions, toValue } from 'liquidjs'

/** Characters, of one rendered field. */
const MAX_OUTPUT = 262_144

const MAX_NUMBER = 64

/** A filter's function. */
export type Handler = Extract<FilterImplOptions, (...values: never) => unknown>

/** Why a template could not be rendered, in words that hold nothing of what it was given. */
export class RenderFault extends Error {}

/**
 * Charges for work, by the characters and elements it touches; throws when a rendering has used up its share.
 *
 * This, not the clock, is what bounds a rendering: it comes out the same on a busy machine.
 */
export function charge(context: Context, amount: number): void {
  context.memoryLimit.use(amount)
}

/**
 * Throws when a rendering has used up its time. The library looks between tags only: filters and operators call this.
 */
export function checkTime(context: Context): void {
  context.renderLimit.check(performance.now())
}

/**
 * Charges for finding `pattern` in `text`: in the worst case every character of the one is compared with every one of
 * the other, 60,000 in 180,000 taking half a second.
 */
export function chargeSearch(context: Context, text: string, pattern: string): void {
  charge(context, (text.length * pattern.length) / 256)
}

/** How many fields an object has, which takes time to find out; 0 for whatever is not one. */
export function countKeys(value: unknown): number {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value).length : 0
}

/** What a value reads as: nothing for `nil`, the items of a list one after the other. An object has no text. */
export function toText(value: unknown, context: Context): string {
  const plain: unknown = toValue(value)
  if (typeof plain === 'string') return plain
  if (plain === null || plain === undefined) return ''
  if (Array.isArray(plain))
    return plain.reduce<string>((text, item) => text + charged(toText(item, context), context), '')
  if (typeof plain === 'object' || typeof plain === 'function') {
    throw new RenderFault('an object stands where text is needed; name one of its fields')
  }
  return String(plain)
}

function charged(text: string, context: Context): string {
  charge(context, text.length + 8)
  return text
}

/** The number that a value reads as, 0 if none: reading a very long one would take time that is not charged. */
export function shortNumber(value: unknown): number {
  const plain: unknown = toValue(value)
  return typeof plain === 'object' || (typeof plain === 'string' && plain.length > MAX_NUMBER) ? 0 : Number(plain) || 0
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' }

/** Escapes a text for element content and for quoted attributes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character) : text
}

/** Turns the escapes of {@link escapeHtml} back, so that a text which has been escaped is not escaped twice. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(?:amp|lt|gt|#34|#39);/g, (escaped) => ORIGINALS.get(escaped) ?? escaped)
}

const ORIGINALS: ReadonlyMap<string, string> = new Map(
  Object.entries(ESCAPES).map(([character, text]) => [text, character]),
)

/**
 * What `capture` keeps: rendered already, so what had to be escaped is. It reads as its text; a filter makes it plain
 * text.
 */
export class RenderedText extends Drop {
  readonly #text: string

  constructor(text: string) {
    super()
    this.#text = text
  }

  override valueOf(): string {
    return this.#text
  }

  /** Read by templates. */
  size(): number {
    return this.#text.length
  }
}

/** Collects rendered text, and stops the rendering once there is too much of it. */
export class TextEmitter implements Emitter {
  buffer = ''

  write(text: unknown): void {
    this.buffer += typeof text === 'string' ? text : String(text ?? '')
    // Joining is cheap, and so is the length; only what stays under the limit is ever laid out in memory.
    if (this.buffer.length > MAX_OUTPUT) throw new RenderFault(`the text is longer than ${MAX_OUTPUT} characters`)
  }
}

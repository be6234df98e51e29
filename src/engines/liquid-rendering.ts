import { Context, Drop, type Emitter, type FilterImplOptions, type Scope, toValue } from 'liquidjs'

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

/**
 * What is thrown for a variable that is absent. By its name the library knows it where absence is allowed; it is no
 * `Error` because recording a stack for every optional field of a list takes longer than all the rest.
 */
export const ABSENT: Readonly<Error> = Object.freeze({
  name: 'InternalUndefinedVariableError',
  message: 'undefined variable',
})

/** Reads variables from plain JSON. */
export class PlainContext extends Context {
  // biome-ignore lint/correctness/useYield: the library awaits an iterator, plain JSON has nothing to wait for
  override *_getFromScope(
    scope: unknown,
    paths: (string | number | Drop)[] | string,
    strictVariables: boolean = this.strictVariables,
  ): Generator<unknown, unknown> {
    let value = scope
    for (const path of typeof paths === 'string' ? paths.split('.') : paths) {
      // The library's own signature takes an object, its code any value.
      value = this.readProperty(value as Scope, path)
      if (strictVariables && value === undefined) {
        charge(this, 100)
        throw ABSENT
      }
    }
    return value
  }

  /** `size` of an object lists all its fields. */
  override readProperty(object: Scope, key: string | number | Drop): unknown {
    if (key === 'size') charge(this, 16 * countKeys(object))
    return super.readProperty(object, key)
  }
}

type Limit = Context['renderLimit']
/** What the library renders with: it yields what it waits for, which may be another. */
type Steps = Required<Iterator<unknown, unknown, unknown>>

/** How long a rendering keeps the loop to itself at a time, in milliseconds. */
const SLICE_MS = 8
/**
 * Only a backstop: the charges are used up far sooner, and a process that waits for its turn must not fail a message.
 */
const RUNNING_LIMIT_MS = 2000

/** The time that one rendering has run for. The library asks it before every tag and text, filters and operators by themselves. */
class RunningTime implements Pick<Limit, 'check'> {
  isTurnOver = false
  #before = 0
  #since = 0
  #now = 0

  begin(): void {
    this.#before += this.#now - this.#since
    this.#since = performance.now()
    this.#now = this.#since
    this.isTurnOver = false
  }

  check(now: number): void {
    this.#now = now
    const ms = now - this.#since
    this.isTurnOver = ms > SLICE_MS
    if (this.#before + ms > RUNNING_LIMIT_MS)
      throw new RenderFault(`the rendering takes longer than ${RUNNING_LIMIT_MS} ms`)
  }
}

/** One rendering. Like the library's `renderSync`, but one that takes long lets others have their turn. */
export class RenderInSlices {
  readonly #time = new RunningTime()
  /** Each waits for the one after it. */
  readonly #steps: Steps[] = []
  /** What the last step gave to the one that waits for it, or threw. */
  #result: unknown
  #threw = false

  /** @param begin Gives what is to be run, with a limit that it shows its time to. */
  constructor(begin: (renderLimit: Limit) => Iterator<unknown>) {
    // A class with private members, of which the library calls this one alone.
    const first = begin(this.#time as unknown as Limit)
    if (isSteps(first)) this.#steps.push(first)
  }

  /** Goes on for its turn. Gives whether it is through; what the rendering throws is thrown. */
  takeTurn(): boolean {
    this.#time.begin()
    while (this.#steps.length > 0) {
      try {
        if (!this.#goOn()) return false
      } catch (error) {
        this.#steps.pop()
        this.#result = error
        this.#threw = true
      }
    }
    if (this.#threw) throw this.#result
    return true
  }

  /** Until something throws, which is for the one that waits, its turn is over, or it is through. */
  #goOn(): boolean {
    const steps = this.#steps
    for (let current = steps.at(-1); current; current = steps.at(-1)) {
      if (this.#time.isTurnOver) return false
      const { value, done } = this.#threw ? this.#throwInto(current) : current.next(this.#result)
      if (done) steps.pop()
      const waits = isSteps(value)
      if (waits) steps.push(value)
      this.#result = waits ? undefined : value
    }
    return true
  }

  #throwInto(current: Steps): IteratorResult<unknown, unknown> {
    const error = this.#result
    this.#threw = false
    return current.throw(error)
  }
}

function isSteps(value: unknown): value is Steps {
  return typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function'
}

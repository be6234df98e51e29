import { Context, Drop, type Emitter, type FilterImplOptions, type Liquid, type Scope, toValue } from 'liquidjs'

/** Characters of one rendered field. */
const MAX_OUTPUT = 262_144

/** Units of work of one rendered field. */
export const MAX_WORK = 1_000_000

export type Handler = Extract<FilterImplOptions, (...values: never) => unknown>

/** A template cannot be rendered. The message contains no value of the facts. */
export class RenderFault extends Error {}

/** Charges for processed characters and elements. Limits work instead of time, so that the outcome does not depend on load. */
export function charge(context: Context, amount: number): void {
  context.memoryLimit.use(amount)
}

/** The library checks the time only between tags, so filters and operators call this. */
export function checkTime(context: Context): void {
  context.renderLimit.check(performance.now())
}

/** Charges for the worst case of a substring search, which compares each character with each: 60,000 in 180,000 take half a second. */
export function chargeSearch(context: Context, text: string, pattern: string): void {
  charge(context, (text.length * pattern.length) / 256)
}

/** Number of fields of an object; 0 for other values. Listing them takes time, so callers charge for it. */
export function countKeys(value: unknown): number {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value).length : 0
}

/** The text of a value: empty for `nil`, the joined items of a list. Throws for an object. */
export function toText(value: unknown, context: Context): string {
  if (value instanceof ShownNumber) return value.toString()
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

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' }

export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character) : text
}

/** Reverses {@link escapeHtml}, so that escaped text is not escaped twice. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(?:amp|lt|gt|#34|#39);/g, (escaped) => ORIGINALS.get(escaped) ?? escaped)
}

const ORIGINALS: ReadonlyMap<string, string> = new Map(
  Object.entries(ESCAPES).map(([character, text]) => [text, character]),
)

/** The result of `capture`, already escaped: output does not escape it again. A filter converts it to plain text. */
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

/** A number with another text than JavaScript gives it: a whole decimal such as `995.0`, or an integer beyond 2^53. */
export class ShownNumber extends Drop {
  readonly #text: string

  constructor(text: string) {
    super()
    this.#text = text
  }

  override valueOf(): number {
    return Number(this.#text)
  }

  override toString(): string {
    return this.#text
  }
}

export class TextEmitter implements Emitter {
  buffer = ''

  write(text: unknown): void {
    this.buffer += typeof text === 'string' ? text : String(text ?? '')
    // Concatenation and `length` are cheap: the engine copies the text only once, if it stays below the limit.
    if (this.buffer.length > MAX_OUTPUT) throw new RenderFault(`the text is longer than ${MAX_OUTPUT} characters`)
  }
}

/**
 * Thrown for an absent variable. The library recognises its name where absence is allowed. Not an `Error`: recording a stack for each
 * optional field of a list takes longer than the rest of the rendering.
 */
export const ABSENT: Readonly<Error> = Object.freeze({
  name: 'InternalUndefinedVariableError',
  message: 'undefined variable',
})

export class PlainContext extends Context {
  // biome-ignore lint/correctness/useYield: the library awaits an iterator, plain JSON has nothing to wait for
  override *_getFromScope(
    scope: unknown,
    paths: (string | number | Drop)[] | string,
    strictVariables: boolean = this.strictVariables,
  ): Generator<unknown, unknown> {
    let value = scope
    for (const path of typeof paths === 'string' ? paths.split('.') : paths) {
      // The library's signature requires an object, but its code accepts any value.
      value = this.readProperty(value as Scope, path)
      if (strictVariables && value === undefined) {
        charge(this, 100)
        throw ABSENT
      }
    }
    return value
  }

  /** Charges for `size` of an object, which lists its fields. */
  override readProperty(object: Scope, key: string | number | Drop): unknown {
    if (key === 'size') charge(this, 16 * countKeys(object))
    return super.readProperty(object, key)
  }
}

type Limit = Context['renderLimit']
/** A generator of the library. It yields the value that it waits for, possibly another generator. */
type Steps = Required<Iterator<unknown, unknown, unknown>>

/** Longest time slice, in which a rendering blocks the event loop, in milliseconds. */
const SLICE_MS = 8
/** Units of work (4,096 take far less than a slice), after which a rendering by closures reads the clock. */
const WORK_BETWEEN_CHECKS = 4_096
/** A backstop: the limit of work is reached far sooner. Only running time counts, so a busy process fails no message. */
const RUNNING_LIMIT_MS = 2000

/** Running time of one rendering. The library checks it before each tag and text, filters and operators themselves. */
class RunningTime implements Pick<Limit, 'check'> {
  isSliceOver = false
  #before = 0
  #since = 0
  #now = 0

  begin(since: number): void {
    this.#before += this.#now - this.#since
    this.#since = since
    this.#now = since
    this.isSliceOver = false
  }

  check(now: number): void {
    this.#now = now
    const ms = now - this.#since
    this.isSliceOver = ms > SLICE_MS
    if (this.#before + ms > RUNNING_LIMIT_MS)
      throw new RenderFault(`the rendering takes longer than ${RUNNING_LIMIT_MS} ms`)
  }
}

/** One rendering in time slices: the library's `renderSync`, except that it can yield to the event loop. */
export class RenderInSlices {
  readonly #time = new RunningTime()
  readonly #steps: Steps[] = []
  #result: unknown
  #threw = false

  /** @param begin Starts the rendering with a limit that checks its time. */
  constructor(begin: (renderLimit: Limit) => Iterator<unknown>) {
    // The type has private members, but the library calls only `check`.
    const first = begin(this.#time as unknown as Limit)
    if (isSteps(first)) this.#steps.push(first)
  }

  /** Runs one time slice, which began at `since`, and returns whether the rendering is done. Rethrows its error. */
  runSlice(since: number): boolean {
    this.#time.begin(since)
    while (this.#steps.length > 0) {
      try {
        if (!this.#advance()) return false
      } catch (error) {
        this.#steps.pop()
        this.#result = error
        this.#threw = true
      }
    }
    if (this.#threw) throw this.#result
    return true
  }

  /** Runs until a generator throws, the slice is over (returns false) or the rendering is done (returns true). */
  #advance(): boolean {
    const steps = this.#steps
    for (let current = steps.at(-1); current; current = steps.at(-1)) {
      if (this.#time.isSliceOver) return false
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

/** Limits of a rendering by closures: one time slice, and the work that the library would allow. */
export class OneSlice implements Pick<Limit, 'use' | 'check'> {
  readonly #since: number
  #work = 0
  #unchecked = 0

  constructor(since: number) {
    this.#since = since
  }

  get work(): number {
    return this.#work
  }

  use(amount: number): void {
    if (!(amount > 0)) return
    this.#work += amount
    if (this.#work > MAX_WORK) throw new RenderFault('the rendering works on too much data')
    this.#unchecked += amount
    if (this.#unchecked > WORK_BETWEEN_CHECKS) this.check(performance.now())
  }

  check(now: number): void {
    this.#unchecked = 0
    if (now - this.#since > SLICE_MS) throw new RenderFault('the time slice is over')
  }
}

/** A loop that is running. */
export interface Loop {
  item: unknown
  index: number
  readonly length: number
}

/** State of a rendering by closures. */
export class ClosureContext extends PlainContext {
  /** Outermost first. */
  readonly loops: Loop[] = []
  emitter: TextEmitter = new TextEmitter()

  constructor(facts: object, liquid: Liquid, limits: OneSlice) {
    // The type has private members, but the library calls only `use` and `check`.
    const limit = limits as unknown as Limit
    super(facts, liquid.options, { sync: true }, { liquid, memoryLimit: limit, renderLimit: limit })
  }
}

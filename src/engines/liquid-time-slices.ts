import type { Context } from 'liquidjs'
import { RenderFault } from './liquid-text.ts'

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

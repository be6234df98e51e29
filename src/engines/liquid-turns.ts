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
  #before = 0
  #since = 0
  #now = 0

  begin(): void {
    this.#before += this.#now - this.#since
    this.#since = performance.now()
    this.#now = this.#since
  }

  check(now: number): void {
    this.#now = now
    if (this.#before + now - this.#since <= RUNNING_LIMIT_MS) return
    throw new RenderFault(`the rendering takes longer than ${RUNNING_LIMIT_MS} ms`)
  }

  get isTurnOver(): boolean {
    return this.#now - this.#since > SLICE_MS
  }
}

/** One rendering. Like the library's `renderSync`, but one that takes long lets others have their turn. */
export class RenderInTurns {
  readonly #time = new RunningTime()
  readonly #steps: Steps[] = []
  /** What the last step gave to the one that waits for it, or threw. */
  #result: { readonly value: unknown; readonly threw: boolean } = { value: undefined, threw: false }

  /** @param begin Gives what is to be run, with a limit that it shows its time to. */
  constructor(begin: (renderLimit: Limit) => Iterator<unknown>) {
    // A class with private members, of which the library calls this one alone.
    const first = begin(this.#time as unknown as Limit)
    if (isSteps(first)) this.#steps.push(first)
  }

  /** Goes on for its turn. Gives whether it is through; what the rendering throws is thrown. */
  takeTurn(): boolean {
    this.#time.begin()
    for (let current = this.#steps.at(-1); current; current = this.#steps.at(-1)) {
      if (this.#time.isTurnOver) return false
      this.#step(current)
    }
    if (this.#result.threw) throw this.#result.value
    return true
  }

  #step(current: Steps): void {
    const { value: given, threw } = this.#result
    try {
      const { value, done } = threw ? current.throw(given) : current.next(given)
      if (done) this.#steps.pop()
      const waits = isSteps(value)
      if (waits) this.#steps.push(value)
      this.#result = { value: waits ? undefined : value, threw: false }
    } catch (error) {
      this.#steps.pop()
      this.#result = { value: error, threw: true }
    }
  }
}

function isSteps(value: unknown): value is Steps {
  return (
    typeof value === 'object' &&
    value !== null &&
    'next' in value &&
    typeof value.next === 'function' &&
    'throw' in value
  )
}

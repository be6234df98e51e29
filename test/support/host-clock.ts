import type { Clock } from '../../src/ports/clock.ts'

interface Timer {
  readonly due: number
  readonly run: () => void
}

/** A clock that only a test moves, with promises for its pending timers. */
export class HostClock implements Clock {
  #now = 0
  readonly #timers = new Set<Timer>()
  readonly #waiting = new Set<() => void>()

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    if (ms === 0) {
      // Due at once: runs after other pending work.
      const next = setImmediate(run)
      return () => clearImmediate(next)
    }
    const timer = { due: this.#now + ms, run }
    this.#timers.add(timer)
    this.#changed()
    return () => {
      this.#timers.delete(timer)
      this.#changed()
    }
  }

  advance(ms: number): void {
    this.#now += ms
    for (const timer of [...this.#timers]) {
      if (timer.due > this.#now) continue
      this.#timers.delete(timer)
      timer.run()
    }
    this.#changed()
  }

  /** Resolves when exactly this many timers are pending. */
  pending(count: number): Promise<void> {
    return this.#until(() => this.#timers.size === count)
  }

  /** Resolves when a timer is due within this many milliseconds. */
  dueWithin(ms: number): Promise<void> {
    return this.#until(() => [...this.#timers].some(({ due }) => due <= this.#now + ms))
  }

  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!isTrue()) return
        this.#waiting.delete(check)
        resolve()
      }
      this.#waiting.add(check)
      check()
    })
  }

  #changed(): void {
    for (const check of [...this.#waiting]) check()
  }
}

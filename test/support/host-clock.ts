import type { Clock } from '../../src/ports/clock.ts'

interface Timer {
  readonly due: number
  readonly run: () => void
}

/** A clock that stands still until a test moves it, and that tells when timers come and go. */
export class HostClock implements Clock {
  #now = 0
  readonly #timers = new Set<Timer>()
  readonly #waiting = new Set<() => void>()

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    if (ms === 0) {
      // Due already: as soon as others had their turn.
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

  /** Resolves as soon as exactly so many timers are pending. */
  pending(count: number): Promise<void> {
    return this.#until(() => this.#timers.size === count)
  }

  /** Resolves as soon as a timer is pending that is due within so many milliseconds. */
  dueWithin(ms: number): Promise<void> {
    return this.#until(() => [...this.#timers].some(({ due }) => due <= this.#now + ms))
  }

  #until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isSo()) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look()
  }
}

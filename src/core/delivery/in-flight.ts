/** Promises that have not settled yet. */
export interface InFlight {
  /** Counts a promise until it settles, and returns it. */
  add<T>(work: Promise<T>): Promise<T>
  empty(): Promise<void>
}

/** @param onSettled Called whenever one settles. */
export function inFlight(onSettled = (): void => {}): InFlight {
  let count = 0
  let waiting: (() => void)[] = []

  function settled(): void {
    count--
    onSettled()
    if (count > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    add(work) {
      count++
      work.then(settled, settled)
      return work
    },
    async empty() {
      if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}

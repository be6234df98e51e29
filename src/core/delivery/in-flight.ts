/** Work that has begun and not ended. */
export interface InFlight {
  /** Gives the work back. */
  keep<T>(work: Promise<T>): Promise<T>
  /** Resolves when there is none. */
  empty(): Promise<void>
}

export function inFlight(): InFlight {
  let count = 0
  let waiting: (() => void)[] = []

  function drop(): void {
    count--
    if (count > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    keep(work) {
      count++
      work.then(drop, drop)
      return work
    },
    async empty() {
      if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}

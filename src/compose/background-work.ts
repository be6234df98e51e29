/** Work that goes on after an answer. */
export interface BackgroundWork {
  add(work: Promise<unknown>): void
  isGoing(): boolean
  done(): Promise<void>
}

export function backgroundWork(): BackgroundWork {
  const going = new Set<Promise<unknown>>()
  return {
    add(work) {
      going.add(work)
      void work.finally(() => going.delete(work))
    },
    isGoing: () => going.size > 0,
    async done() {
      await Promise.all(going)
    },
  }
}

import type { Clock } from '../ports/clock.ts'

/** Waits for work for at most `ms`; gives whether it ended in time. Rejects if the work rejects. */
export async function raceTimeout(work: Promise<unknown>, ms: number, clock: Pick<Clock, 'after'>): Promise<boolean> {
  let cancel = (): void => {}
  const late = new Promise<false>((resolve) => {
    cancel = clock.after(ms, () => resolve(false), 'keepAlive')
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    cancel()
  }
}

/** Lets other work of the process run: awaiting a store that answers without I/O does not. */
export function yieldToEventLoop(clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve) => void clock.after(0, resolve, 'keepAlive'))
}

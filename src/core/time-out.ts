import type { Clock } from '../ports/clock.ts'

/** Waits for work, at most so long; gives whether it ended by then. Rejects as the work does. */
export async function raceTimeout(work: Promise<unknown>, ms: number, clock: Pick<Clock, 'after'>): Promise<boolean> {
  let callOff = (): void => {}
  const late = new Promise<false>((resolve) => {
    callOff = clock.after(ms, () => resolve(false), 'keepAlive')
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    callOff()
  }
}

import type { Clock } from '../../ports/clock.ts'

/** Within what every timer takes. */
const HOUR_MS = 3_600_000

/** Keeps the process alive until the function returned is called, whatever else it waits for meanwhile. */
export function stayAlive(clock: Pick<Clock, 'after'>): () => void {
  let release = (): void => {}
  const hold = (): void => {
    release = clock.after(HOUR_MS, hold, 'keepAlive')
  }
  hold()
  return () => release()
}

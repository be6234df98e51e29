import type { Clock } from '../ports/clock.ts'

/** What a promise gives within `ms` milliseconds; rejects with a `TimeoutError` after that. What it rejects with later is nobody's. */
export function withTimeout<T>(promise: Promise<T>, ms: number, clock: Pick<Clock, 'after'>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = clock.after(
      ms,
      () => reject(new DOMException(`nothing within ${ms} ms`, 'TimeoutError')),
      'keepAlive',
    )
    promise.then(resolve, reject).finally(callOff)
  })
}

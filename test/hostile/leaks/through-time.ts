import { setImmediate } from 'node:timers/promises'
import type { FakeClock } from '../../support/fake-clock.ts'

/** Runs due timers until some work has ended. Each step advances the clock by `stepMs`. */
export async function throughTime<T>(
  { clock }: { readonly clock: FakeClock },
  work: Promise<T>,
  stepMs = 0,
): Promise<T> {
  let isDone = false
  const done = (): void => {
    isDone = true
  }
  work.then(done, done)
  while (!isDone) {
    clock.advance(stepMs)
    await setImmediate()
  }
  return work
}

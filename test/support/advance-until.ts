import { setImmediate } from 'node:timers/promises'
import type { FakeClock } from './fake-clock.ts'

const STEP_MS = 100
const MAX_MS = 120_000

/** Advances the clock until the work has ended. Returns its result and the time that passed on the clock. */
export async function advanceUntil<T>(
  work: Promise<T>,
  clock: FakeClock,
): Promise<{ readonly result: T; readonly ms: number }> {
  const since = clock.now()
  let isOver = false
  const watched = work.finally(() => {
    isOver = true
  })
  watched.catch(() => {})
  while (!isOver && clock.now() - since < MAX_MS) {
    // Promises that can settle do so first.
    for (let turn = 0; turn < 20 && !isOver; turn += 1) await setImmediate()
    if (!isOver) clock.advance(STEP_MS)
  }
  if (!isOver) throw new Error(`did not end within ${MAX_MS} ms of the clock`)
  return { result: await watched, ms: clock.now() - since }
}

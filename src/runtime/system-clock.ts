import type { Clock } from '../ports/clock.ts'

/** The machine's time. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer: unknown = setTimeout(run, ms)
    if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
    return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0])
  },
}

import { SallyportError } from '../../errors.ts'
import { type Awaitable, isPromise } from '../../model/awaitable.ts'
import { withTimeout } from '../../model/time-out.ts'
import type { Clock } from '../../ports/clock.ts'

/**
 * Returns what host code gave, or rejects with `no_answer` when it is a promise that is pending after these milliseconds. Its later result is
 * dropped.
 *
 * @param call The called method, such as `find() of the directory`.
 */
export function inTime<Value>(
  given: Awaitable<Value>,
  call: string,
  ms: number,
  clock: Pick<Clock, 'after'>,
): Awaitable<Value> {
  const fallback = (): never => {
    throw new SallyportError('no_answer', `${call} did not answer within ${ms / 1_000} s`)
  }
  return isPromise(given) ? withTimeout(given, { ms, clock, fallback }) : given
}

import { ok } from '../assertions.ts'
import type { RunTrial } from './run-fixtures.ts'

export const DAY_MS = 86_400_000

/** By so much a store may be behind or ahead of the time that its trial tells: what is on another machine is not known exactly. */
const LEEWAY_MS = 100

/** A clock that has not moved for so long stands still. */
const STILL_MS = 3

/** A span of the store's time. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Does something, and says when it was done: within a span, since the store's clock may run. */
export async function timedRuns<T>({ now }: RunTrial, act: () => Promise<T>): Promise<{ value: T; when: Span }> {
  const from = now()
  const value = await act()
  return { value, when: { from, to: now() } }
}

export function happened(at: number | undefined, { from, to }: Span, what: string): void {
  const isWithin = at !== undefined && at >= from - LEEWAY_MS && at <= to + LEEWAY_MS
  ok(isWithin, `${what} is ${at}, and was between ${from} and ${to}`)
}

/** Whether the store's clock stands still unless it is moved: what is true to the millisecond can be tried only then. */
export async function standsStill({ store, now }: RunTrial): Promise<boolean> {
  const [start, began] = [now(), performance.now()]
  while (performance.now() - began < STILL_MS) await store.findRun('t', 'nobody')
  return now() === start
}

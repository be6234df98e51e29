import { addDecimals, negateDecimal } from './decimal.ts'

/** Numbers by name. */
export type Numbers = Readonly<Record<string, number>>

/** Exact decimals by name. */
export type Decimals = Readonly<Record<string, string>>

/** No names. */
export const EMPTY: Readonly<Record<string, never>> = Object.freeze(Object.create(null))

/** Takes any name, since it has none from anywhere else. */
export function dictionary<T>(): Record<string, T> {
  return Object.create(null)
}

/** What stands by a name. Names come from callers: `toString` is one like any other. */
export function named<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

/** Whether it has no names. */
export function isEmpty(of: object): boolean {
  for (const _ in of) return false
  return true
}

/** Adds to a {@link dictionary}, in place. What comes to 0 stays. */
export function addNumbers(sum: Record<string, number>, add: Numbers): void {
  for (const name in add) sum[name] = (sum[name] ?? 0) + (add[name] ?? 0)
}

/** Adds to a {@link dictionary}, in place. What comes to 0 stays. */
export function addMoney(sum: Record<string, string>, add: Decimals): void {
  for (const name in add) {
    const to = sum[name]
    const by = add[name] ?? '0'
    sum[name] = to === undefined ? by : addDecimals(to, by)
  }
}

/** What has to be added to `before` to come to `after`. A name that only one of them has is in it, be it with 0. */
export function minusNumbers(after: Numbers, before: Numbers): Numbers {
  return minusEach(after, before, 0, minusNumber)
}

/** What has to be added to `before` to come to `after`, as {@link minusNumbers}. */
export function minusMoney(after: Decimals, before: Decimals): Decimals {
  return minusEach(after, before, '0', minusDecimal)
}

function minusNumber(to: number, from: number): number {
  return to - from
}

function minusDecimal(to: string, from: string): string {
  return addDecimals(to, negateDecimal(from))
}

/** The names by which something differs, or that only one has. `minus` gives `undefined` for what is the same after all. */
export function minusEach<T>(
  after: Readonly<Record<string, T>>,
  before: Readonly<Record<string, T>>,
  none: T,
  minus: (to: T, from: T) => T | undefined,
): Readonly<Record<string, T>> {
  if (after === before) return EMPTY
  let changes: Record<string, T> | undefined
  for (const name in after) {
    const to = after[name] as T
    const from = named(before, name)
    const change = to === from ? undefined : minus(to, from ?? none)
    if (change === undefined) continue
    changes ??= dictionary()
    changes[name] = change
  }
  for (const name in before) {
    const change = Object.hasOwn(after, name) ? undefined : minus(none, before[name] as T)
    if (change === undefined) continue
    changes ??= dictionary()
    changes[name] = change
  }
  return changes ?? EMPTY
}

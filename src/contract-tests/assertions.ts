import { AssertionError, deepStrictEqual } from 'node:assert/strict'

/**
 * Fails unless both are deeply equal as JSON, without conversion (`1` is not `'1'`). `undefined` members equal absent ones, `-0` equals
 * `0`, classes and the order of members do not count.
 */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  compare(plain(actual), plain(expected), message)
}

/**
 * Fails unless the first contains all members of the second, compared by {@link equal}. It may have more members, also in nested objects,
 * but lists have equal lengths. A member that is `undefined` in the second must be absent.
 */
export function matches(actual: unknown, expected: unknown, message?: string): void {
  compare(plain(within(actual, expected)), plain(expected), message)
}

export function ok(value: unknown, message: string): asserts value {
  if (!value) throw new AssertionError({ message, actual: value, expected: true, operator: '==' })
}

/** Fails unless the promise is rejected. Returns the reason. */
export async function rejects(promise: Promise<unknown>, message: string): Promise<unknown> {
  const settled = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in settled) return settled.error
  throw new AssertionError({ message, actual: settled.value, operator: 'rejects' })
}

/** Runs the test of a guarantee. The message of a failed assertion then begins with the guarantee. */
export async function guarantees(guarantee: string, test: () => Promise<void>): Promise<void> {
  try {
    await test()
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error
    const { message, actual, expected, operator, stack } = error
    const named = new AssertionError({
      message: `Broken guarantee: ${guarantee}\n${message}`,
      actual,
      expected,
      operator,
    })
    // The stack of the original error shows which assertion failed.
    if (stack !== undefined) named.stack = stack.replace(message, () => named.message)
    throw named
  }
}

function compare(actual: unknown, expected: unknown, message: string | undefined): void {
  try {
    deepStrictEqual(actual, expected)
  } catch (error) {
    if (message === undefined || !(error instanceof Error)) throw error
    throw new AssertionError({ message: `${message}\n${error.message}`, actual, expected, operator: 'deepStrictEqual' })
  }
}

/** A copy with JSON members only. Values that are not plain data are kept. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return value + 0
  if (Array.isArray(value)) return value.map(plain)
  if (!isRecord(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, plain(member)]))
}

function within(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected)) return actual.map((item, at) => within(item, expected[at]))
  if (!isRecord(actual) || !isRecord(expected)) return actual
  const members = Object.entries(expected).filter(([key]) => Object.hasOwn(actual, key))
  return Object.fromEntries(members.map(([key, member]) => [key, within(actual[key], member)]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

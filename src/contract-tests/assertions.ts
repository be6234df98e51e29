import { AssertionError, deepStrictEqual } from 'node:assert/strict'

/**
 * Fails unless both are the same to the last member. They are compared as JSON has them: a member that is `undefined` is as good
 * as none, `-0` is `0`, and of which class an object is, or in which order its members stand, does not matter. Nothing is
 * converted: `1` is neither `'1'` nor `1n`, and a `Date` is no instant.
 */
export function equal(actual: unknown, expected: unknown, message?: string): void {
  compare(plain(actual), plain(expected), message)
}

/**
 * Fails unless the first has all that the second says, compared as {@link equal} does: it may have more members, also further
 * down, but a list has just as many items. A member that is said to be `undefined` must not be there.
 */
export function matches(actual: unknown, expected: unknown, message?: string): void {
  compare(plain(within(actual, expected)), plain(expected), message)
}

/** Fails unless it is truthy. */
export function ok(value: unknown, message: string): asserts value {
  if (!value) throw new AssertionError({ message, actual: value, expected: true, operator: '==' })
}

/** Fails unless the promise is rejected. Gives what it was rejected with. */
export async function rejects(promise: Promise<unknown>, message: string): Promise<unknown> {
  const settled = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in settled) return settled.error
  throw new AssertionError({ message, actual: settled.value, operator: 'rejects' })
}

function compare(actual: unknown, expected: unknown, message: string | undefined): void {
  try {
    deepStrictEqual(actual, expected)
  } catch (error) {
    if (message === undefined || !(error instanceof Error)) throw error
    throw new AssertionError({ message: `${message}\n${error.message}`, actual, expected, operator: 'deepStrictEqual' })
  }
}

/** A copy that has nothing but what JSON would have; what is no plain data stays what it is. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return value + 0
  if (Array.isArray(value)) return value.map(plain)
  if (!isRecord(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, plain(member)]))
}

/** Of a value no more than what the other one speaks of. */
function within(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected)) return actual.map((item, at) => within(item, expected[at]))
  if (!isRecord(actual) || !isRecord(expected)) return actual
  const members = Object.entries(expected).filter(([key]) => Object.hasOwn(actual, key))
  return Object.fromEntries(members.map(([key, member]) => [key, within(actual[key], member)]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

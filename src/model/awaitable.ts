/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** True for a promise of any library. */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Continues with a value: at once when it is there, because each `await` costs a turn of the microtask queue. */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromise(value) ? value.then(next) : next(value)
}

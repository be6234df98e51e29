import type { FakeClock } from '../../support/fake-clock.ts'

/** What a field function returns, and what becomes of the field. */
export interface AsyncResult {
  readonly name: string
  /** @param clock For results that come late. */
  give(clock: FakeClock): unknown
  readonly becomes: { readonly value: unknown } | { readonly detail: string } | 'late'
}

const later = (clock: FakeClock, ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))

/** An object of another promise library. */
const thenable = (then: unknown): object => ({ then })

const circle: Record<string, unknown> = {}
circle.self = circle

const REJECTED = { detail: 'the promise of the template function was rejected' }
const THREW = { detail: 'the template function threw' }
const returned = (what: string): { detail: string } => ({
  detail: `the template function returned ${what}; return a string or another JSON value`,
})

export const ASYNC_RESULTS: readonly AsyncResult[] = [
  { name: 'a string', give: async () => 'canary', becomes: { value: 'canary' } },
  { name: 'an object', give: async () => ({ a: [1, null] }), becomes: { value: { a: [1, null] } } },
  { name: 'a string after 4,999 ms', give: (clock) => later(clock, 4_999).then(() => 'x'), becomes: { value: 'x' } },
  {
    name: 'a promise of a promise',
    give: async () => thenable(Promise.prototype.then.bind(Promise.resolve('x'))),
    becomes: { value: 'x' },
  },
  { name: 'undefined', give: async () => undefined, becomes: returned('undefined') },
  { name: 'a function', give: async () => () => 'canary', becomes: returned('a function') },
  { name: 'a symbol', give: async () => Symbol('canary'), becomes: returned('a symbol') },
  { name: 'a bigint', give: async () => 1n, becomes: returned('a bigint') },
  { name: 'a cyclic object', give: async () => circle, becomes: returned('an object that is no JSON') },
  {
    name: 'an object whose toJSON gives nothing',
    give: async () => ({ toJSON() {} }),
    becomes: returned('an object that is no JSON'),
  },
  { name: 'a rejection', give: async () => fail(), becomes: REJECTED },
  { name: 'a rejection with nothing', give: () => Promise.reject(), becomes: REJECTED },
  { name: 'nothing, ever', give: () => new Promise(() => {}), becomes: 'late' },
  { name: 'a value after 5,001 ms', give: (clock) => later(clock, 5_001).then(() => 'canary'), becomes: 'late' },
  { name: 'a rejection after 5,001 ms', give: (clock) => later(clock, 5_001).then(fail), becomes: 'late' },
  {
    name: 'a thenable',
    give: () => thenable((resolve: (text: string) => void) => resolve('x')),
    becomes: { value: 'x' },
  },
  {
    name: 'a thenable that settles twice',
    give: () =>
      thenable((resolve: (text: string) => void, reject: (error: Error) => void) => {
        resolve('x')
        reject(new Error('canary'))
      }),
    becomes: { value: 'x' },
  },
  { name: 'a thenable that throws', give: () => thenable(fail), becomes: REJECTED },
  {
    name: 'a thenable that rejects',
    give: () => thenable((_: unknown, reject: (error: Error) => void) => reject(new Error('canary'))),
    becomes: REJECTED,
  },
  { name: 'a thenable that never settles', give: () => thenable(() => {}), becomes: 'late' },
  {
    name: 'a then that throws when it is read',
    give: () => Object.defineProperty({}, 'then', { get: fail }),
    becomes: THREW,
  },
  { name: 'a then that throws when it is read again', give: () => readOnce(), becomes: REJECTED },
  {
    name: 'a promise whose constructor throws',
    give: () => Object.defineProperty(Promise.resolve('x'), 'constructor', { get: fail }),
    becomes: REJECTED,
  },
  { name: 'a value that is no promise', give: () => thenable('later'), becomes: { value: thenable('later') } },
  { name: 'a value that is a function', give: () => () => 'canary', becomes: returned('a function') },
]

function readOnce(): object {
  let reads = 0
  // `'then' in` reads nothing; `typeof` and `await` read once each.
  return Object.defineProperty({}, 'then', { get: () => (reads++ === 0 ? () => {} : fail()) })
}

function fail(): never {
  throw new Error('canary')
}

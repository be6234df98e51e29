import type { AttemptEnd } from '../../../src/model/attempt.ts'
import type { DeliveryReason } from '../../../src/model/dispatch.ts'
import type { SendLimit } from '../../../src/ports/delivery-policy.ts'
import type { ClaimRequest } from '../../../src/ports/dispatch-store.ts'
import { fc } from '../../support/properties.ts'

export const CHANNELS = ['a', 'b', 'c', 'd'] as const
export const TENANTS = ['t1', 't2', 't3'] as const
const RECEIVERS = ['x', 'y'] as const
const REASONS: readonly DeliveryReason[] = [
  'provider_rejected',
  'attempts_exhausted',
  'channel_error',
  'template_error',
]

/** The limits of messages; each key has one limit. */
const LIMITS: readonly SendLimit[] = [
  { key: 'one a second', max: 1, windowMs: 1_000 },
  { key: 'two a second', max: 2, windowMs: 1_000 },
  { key: 'three a minute', max: 3, windowMs: 60_000 },
]

/** One channel of a new dispatch, before the route is applied. */
export interface Wanted {
  /** `queued`, or final from the start. */
  readonly status: 'queued' | 'skipped' | 'failed'
  readonly limits: readonly SendLimit[]
  readonly receiver: string | undefined
}

/** Accepts an event. */
export interface Accept {
  readonly do: 'accept'
  readonly tenant: string
  readonly route: 'all' | 'first'
  readonly wanted: readonly Wanted[]
  readonly recipient: string
  readonly sessionId: string | undefined
  readonly delayMs: number
  readonly expiresInMs: number
  /** The maximum number of events in one delivery; only with the route `all`. */
  readonly digestMax: number | undefined
  readonly key: { readonly key: string; readonly fingerprint: string; readonly ttlMs: number } | undefined
}

/** Cancels or retries a dispatch; `stranger`: under another tenant. */
export interface Change {
  readonly do: 'cancel' | 'retry'
  readonly dispatch: number
  readonly stranger: boolean
  readonly channel?: string | undefined
  readonly expiresInMs?: number
}

/** Replans deliveries that failed in host code; `stale`: read before another replan. */
export interface Replan {
  readonly do: 'replan'
  readonly dispatch: number
  readonly stranger: boolean
  readonly stale: boolean
  readonly channel: string | undefined
  readonly expiresInMs: number
  /** Replacements of the first failed deliveries. */
  readonly wanted: readonly Wanted[]
  readonly delayMs: number
  readonly digestMax: number | undefined
}

/** Lists all pages. */
export interface List {
  readonly do: 'list'
  readonly recipient: string | undefined
  readonly sessionId: string | undefined
  readonly limit: number
}

/** One operation on a store. Numbers pick an item by its index, modulo the number of items. */
export type Operation =
  | Accept
  | Change
  | Replan
  | List
  | ({ readonly do: 'claim' } & ClaimRequest)
  | { readonly do: 'settle'; readonly lease: number; readonly live: boolean; readonly ending: Ending }
  | { readonly do: 'renew'; readonly lease: number; readonly live: boolean; readonly leaseMs: number }
  | { readonly do: 'wait'; readonly ms: number }

/** The settlement at the end of a lease. */
export type Ending = { readonly attempt?: AttemptEnd } & (
  | { readonly to: 'sent' }
  | { readonly to: 'queued'; readonly delayMs: number; readonly rendered: boolean }
  | { readonly to: 'failed' | 'skipped'; readonly reason: DeliveryReason }
)

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 })

const wanted: fc.Arbitrary<Wanted> = wantedAs(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant('queued' as const) },
    { weight: 1, arbitrary: fc.constantFrom('skipped' as const, 'failed' as const) },
  ),
)

const replacement: fc.Arbitrary<Wanted> = wantedAs(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant('queued' as const) },
    { weight: 1, arbitrary: fc.constant('skipped' as const) },
  ),
)

function wantedAs(status: fc.Arbitrary<Wanted['status']>): fc.Arbitrary<Wanted> {
  return fc.record({
    status,
    limits: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.subarray([...LIMITS], { minLength: 1 }) },
    ),
    receiver: maybe(fc.constantFrom(...RECEIVERS)),
  })
}

const expiresInMs = fc.constantFrom(600_000, 600_000, 600_000, 90_000, 5_000, 1)
const leaseMs = fc.constantFrom(1_000, 30_000, 1)

const accept: fc.Arbitrary<Operation> = fc.record({
  do: fc.constant('accept' as const),
  tenant: fc.constantFrom('t1', 't1', 't1', 't2', 't3'),
  route: fc.constantFrom('all' as const, 'first' as const),
  wanted: fc.array(wanted, { minLength: 1, maxLength: CHANNELS.length, size: 'max' }),
  recipient: fc.constantFrom('r1', 'r1', 'r1', 'r1', 'r2'),
  sessionId: maybe(fc.constantFrom('s1', 's2')),
  delayMs: fc.constantFrom(0, 5_000, 60_000, 60_000),
  expiresInMs,
  digestMax: fc.constantFrom(undefined, 3, 2, 2, 1),
  key: maybe(
    fc.record({
      key: fc.constantFrom('k1', 'k2', 'k3', 'k4'),
      fingerprint: fc.constantFrom('f1', 'f1', 'f2'),
      ttlMs: fc.constantFrom(60_000, 500),
    }),
  ),
})

const claim: fc.Arbitrary<Operation> = fc.record({
  do: fc.constant('claim' as const),
  leaseMs,
  limits: fc.oneof(
    { weight: 3, arbitrary: fc.constant({ a: 9, b: 9, c: 9, d: 9 }) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.constantFrom(...CHANNELS), fc.nat({ max: 2 }), { noNullPrototype: true }),
    },
  ),
  busy: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.record(
          {
            channel: fc.constantFrom(...CHANNELS),
            concurrencyKey: fc.constantFrom(...RECEIVERS),
            tenant: fc.constantFrom(...TENANTS),
          },
          { requiredKeys: ['channel', 'concurrencyKey'] },
        ),
        { maxLength: 3 },
      ),
    },
  ),
  full: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(fc.record({ channel: fc.constantFrom(...CHANNELS), tenant: fc.constantFrom(...TENANTS) }), {
        minLength: 1,
        maxLength: 3,
      }),
    },
  ),
})

const attempt: fc.Arbitrary<AttemptEnd> = fc.oneof(
  fc.constant({ outcome: 'retry' as const, code: 'busy' }),
  fc.constant({ outcome: 'unknown' as const, code: 'timeout' }),
)

function ending<T>(
  end: fc.Arbitrary<T>,
  tried: fc.Arbitrary<AttemptEnd | undefined>,
): fc.Arbitrary<T & { attempt?: AttemptEnd }> {
  return fc.tuple(end, tried).map(([to, given]) => ({ ...to, ...(given && { attempt: given }) }))
}

const failing: fc.Arbitrary<Ending> = ending(
  fc.record({ to: fc.constant('failed' as const), reason: fc.constantFrom(...REASONS) }),
  maybe(fc.oneof(attempt, fc.constant({ outcome: 'rejected' as const, code: 'gone' }))),
)

const endings: fc.Arbitrary<Ending> = fc.oneof(
  ending(fc.constant({ to: 'sent' as const }), fc.constant({ outcome: 'sent' as const, providerMessageId: 'p1' })),
  ending(
    fc.record({
      to: fc.constant('queued' as const),
      delayMs: fc.constantFrom(0, 1_000, 60_000),
      rendered: fc.boolean(),
    }),
    maybe(attempt),
  ),
  ...[failing, failing, failing],
  ending(fc.constant({ to: 'skipped' as const, reason: 'opted_out' as const }), fc.constant(undefined)),
)

const often = fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) })
const seldom = fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })
const place = fc.nat({ max: 63 })

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: accept },
  { weight: 7, arbitrary: claim },
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant('settle' as const), lease: place, live: often, ending: endings }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renew' as const), lease: place, live: often, leaseMs }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), dispatch: place, stranger: seldom }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('retry' as const),
      dispatch: place,
      stranger: seldom,
      channel: fc.constantFrom(undefined, undefined, ...CHANNELS),
      expiresInMs,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('replan' as const),
      dispatch: place,
      stranger: seldom,
      stale: seldom,
      channel: fc.constantFrom(undefined, undefined, ...CHANNELS),
      expiresInMs,
      wanted: fc.array(replacement, { minLength: 1, maxLength: 2 }),
      delayMs: fc.constantFrom(0, 5_000, 60_000),
      digestMax: fc.constantFrom(undefined, 3, 2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      recipient: maybe(fc.constantFrom('r1', 'r2')),
      sessionId: maybe(fc.constantFrom('s1', 's2')),
      limit: fc.constantFrom(1, 2, 100),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 499, 500, 500, 999, 1_000, 1_000, 5_000, 60_000, 600_000),
    }),
  },
)

import type { Delivery, Dispatch } from '../../model/dispatch.ts'
import type { DispatchQuery } from '../../ports/dispatch-query.ts'
import type {
  AcceptOutcome,
  ClaimedDelivery,
  ClaimRequest,
  Claims,
  DispatchChange,
  DispatchStore,
  NewDelivery,
  NewDigest,
  RetryRequest,
  Settled,
  Settlement,
} from '../../ports/dispatch-store.ts'
import { ok } from '../assertions.ts'
import type { CaseTable, ContractCase, StoreCapabilities, StoreTrial } from '../contract.ts'
import { readPages, reopened, storeCases } from '../store-cases.ts'
import {
  acceptance,
  digested,
  type GivenDispatch,
  HOUR,
  LEASE,
  MINUTE,
  proof,
  REJECTED,
  SENT,
  TENANT,
} from './samples.ts'

/** Ends a loop if a store hands out the same delivery again and again. No case needs so many claims. */
const MAX_CLAIMS = 200

export type DispatchCase = ContractCase<StoreTrial<DispatchStore>>

export type Query = Partial<DispatchQuery>

type SettlementEnd = Settlement extends infer Each
  ? Each extends Settlement
    ? Omit<Each, 'deliveryId' | 'fence'>
    : never
  : never

/** A store under test, with the calls that most cases make. Writes use `store`, reads use `other`. */
export interface StoreHarness {
  readonly store: DispatchStore
  /** The second handle; `store` if there is none. */
  readonly other: DispatchStore
  now(): number
  advance(ms: number): Promise<void>
  accept(dispatchId: string, given?: GivenDispatch, through?: DispatchStore): Promise<AcceptOutcome>
  claim(limits?: Readonly<Record<string, number>>, leaseMs?: number): Promise<Claims>
  /** All due deliveries of channel `a`, over several claims. */
  claimAll(): Promise<readonly ClaimedDelivery[]>
  /** Fails if there is none. */
  claimOne(channel?: string, leaseMs?: number): Promise<ClaimedDelivery>
  /** Claims the next delivery of a channel and settles it. */
  settleNext(end: SettlementEnd, channel?: string): Promise<Settled>
  send(channel?: string): Promise<Settled>
  fail(channel?: string): Promise<Settled>
  cancel(dispatchId: string): Promise<DispatchChange | undefined>
  /** The retried dispatch expires in an hour. */
  retry(dispatchId: string, options?: Partial<RetryRequest>): Promise<DispatchChange | undefined>
  /** A copy of the stored dispatch. Fails if there is none. */
  found(dispatchId: string, tenant?: string): Promise<Dispatch>
  /** The first delivery of a dispatch. */
  only(dispatchId: string, tenant?: string): Promise<Delivery>
  /** Status of each delivery, followed by its reason or what it waits for, if there is one. */
  states(dispatchId: string, tenant?: string): Promise<readonly string[]>
  /** Ids of a list. Reads page by page through alternating handles, and runs `between` between pages. */
  list(query?: Query, between?: (page: readonly string[]) => Promise<void>): Promise<string[]>
  /** A harness over the same data, after all handles were closed. */
  reopen(): Promise<StoreHarness>
}

export function dispatchCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<StoreHarness>,
): readonly DispatchCase[] {
  return storeCases(harnessOf, needs, table)
}

export function claimOf(limits: Readonly<Record<string, number>>, more: Partial<ClaimRequest> = {}): ClaimRequest {
  return { limits, leaseMs: LEASE, busy: [], ...more }
}

function harnessOf(trial: StoreTrial<DispatchStore>): StoreHarness {
  const { store, other = store } = trial

  async function found(dispatchId: string, tenant = TENANT): Promise<Dispatch> {
    const dispatch = await other.findDispatch(tenant, dispatchId)
    ok(dispatch, `the dispatch ${dispatchId} is not stored`)
    return structuredClone(dispatch)
  }

  async function claimOne(channel = 'a', leaseMs: number = LEASE): Promise<ClaimedDelivery> {
    const [claimed] = (await store.claim(claimOf({ [channel]: 1 }, { leaseMs }))).deliveries
    ok(claimed, `a claim hands out no delivery of the channel ${channel}`)
    return claimed
  }

  const settleNext: StoreHarness['settleNext'] = async (end, channel) =>
    store.settle({ ...proof(await claimOne(channel)), ...end })

  return {
    store,
    other,
    now: () => trial.now(),
    advance: async (ms) => trial.advance(ms),
    accept: (dispatchId, given, through = store) => through.accept(acceptance(dispatchId, given)),
    claim: (limits = { a: 100 }, leaseMs = LEASE) => store.claim(claimOf(limits, { leaseMs })),
    async claimAll() {
      const all: ClaimedDelivery[] = []
      for (const _ of numbers(MAX_CLAIMS)) {
        const { deliveries } = await store.claim(claimOf({ a: 999 }))
        if (deliveries.length === 0) return all
        all.push(...deliveries)
      }
      throw new Error(`claim still hands out deliveries after ${MAX_CLAIMS} claims, though none was queued again`)
    },
    claimOne,
    settleNext,
    send: (channel) => settleNext({ to: 'sent', attempt: SENT }, channel),
    fail: (channel) => settleNext({ to: 'failed', reason: 'provider_rejected', attempt: REJECTED }, channel),
    cancel: (dispatchId) => store.cancel(TENANT, dispatchId),
    retry: (dispatchId, options) => store.retry(TENANT, dispatchId, { expiresInMs: HOUR, ...options }),
    found,
    async only(dispatchId, tenant) {
      const [delivery] = (await found(dispatchId, tenant)).deliveries
      ok(delivery, `the dispatch ${dispatchId} has no delivery`)
      return delivery
    },
    states: async (dispatchId, tenant) =>
      (await found(dispatchId, tenant)).deliveries.map(({ status, reason, waitsFor }) =>
        [status, reason ?? waitsFor ?? []].flat().join(' '),
      ),
    async list(query, between) {
      const asked = { tenant: TENANT, limit: 100, ...query }
      const items = await readPages(
        asked.limit,
        (cursor = asked.cursor, at) => (at % 2 === 0 ? other : store).listDispatches({ ...asked, cursor }),
        between && ((page) => between(dispatchIdsOf(page))),
      )
      return dispatchIdsOf(items)
    },
    reopen: async () => harnessOf(await reopened(trial)),
  }
}

function dispatchIdsOf(dispatches: readonly Dispatch[]): string[] {
  return dispatches.map(({ dispatchId }) => dispatchId)
}

/** Sorted: the port guarantees no order. */
export function idsOf(items: readonly { readonly deliveryId: string }[]): string[] {
  return items.map(({ deliveryId }) => deliveryId).sort()
}

/** Sorted by id: the port guarantees no order. */
export function byId<T extends { readonly deliveryId: string }>(items: readonly T[]): T[] {
  return [...items].sort((one, other) => (one.deliveryId < other.deliveryId ? -1 : 1))
}

/** A result, and the span of the store's time in which it was produced. */
export interface Timed<T> {
  readonly value: T
  readonly from: number
  readonly to: number
}

export async function timed<T>(harness: StoreHarness, work: () => Promise<T>): Promise<Timed<T>> {
  const from = harness.now()
  const value = await work()
  return { value, from, to: harness.now() }
}

export function between(actual: number | undefined, low: number, high: number, what: string): void {
  const fits = actual !== undefined && actual >= low && actual <= high
  ok(fits, `${what}: expected ${low === high ? low : `${low} to ${high}`}, got ${actual}`)
}

export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}

/** Accepts the dispatches by id, a minute apart. */
export async function acceptAll(
  { accept, advance }: StoreHarness,
  dispatches: Readonly<Record<string, GivenDispatch>>,
): Promise<void> {
  for (const [id, given] of Object.entries(dispatches)) {
    await accept(id, given)
    await advance(MINUTE)
  }
}

/** Accepts an event, by default of one digest. Returns the id of its delivery. */
export type AcceptEvent = (
  dispatchId: string,
  digest?: Partial<NewDigest>,
  rest?: Partial<NewDelivery>,
  given?: GivenDispatch,
) => Promise<string>

export function digesting({ accept, only }: StoreHarness): AcceptEvent {
  return async (id, digest, rest, given = {}) => {
    await accept(id, { deliveries: [digested(`${id}-d`, digest, rest)], ...given })
    return (await only(id, given.tenant)).deliveryId
  }
}

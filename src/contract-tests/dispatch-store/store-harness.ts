import type { Delivery, Dispatch } from '../../model/dispatch.ts'
import type { AcceptOutcome, ClaimedDelivery, Claims, DispatchStore } from '../../ports/dispatch-store.ts'
import { ok } from '../assertions.ts'
import type { ContractCase, StoreCapabilities, StoreTrial } from '../contract.ts'
import { acceptance, type GivenDispatch, LEASE, proof, REJECTED, TENANT } from './samples.ts'

/** More claims than anything here takes: what is handed out again and again must not go on for ever. */
const MOST_CLAIMS = 200

/** How a trial of the dispatch store is registered. */
export type DispatchCase = ContractCase<StoreTrial<DispatchStore>>

/** A store on trial, with the calls that nearly every case makes. They write through `store` and read through `other`. */
export interface StoreHarness {
  readonly store: DispatchStore
  /** The second handle, or the same once more where there is none. */
  readonly other: DispatchStore
  now(): number
  advance(ms: number): Promise<void>
  accept(dispatchId: string, given?: GivenDispatch, through?: DispatchStore): Promise<AcceptOutcome>
  claim(limits?: Readonly<Record<string, number>>, leaseMs?: number): Promise<Claims>
  /** All that is due in channel `a`, though a claim may give less than it is asked for. */
  claimAll(): Promise<readonly ClaimedDelivery[]>
  /** The next delivery of a channel, which there must be. */
  claimOne(channel?: string, leaseMs?: number): Promise<ClaimedDelivery>
  /** Takes the next delivery of a channel and lets it fail. */
  fail(channel?: string): Promise<void>
  /** A copy of the dispatch as it is stored, which there must be. */
  found(dispatchId: string, tenant?: string): Promise<Dispatch>
  /** The one delivery that a dispatch has. */
  only(dispatchId: string, tenant?: string): Promise<Delivery>
  /** A desk at the same data, once all handles were closed. */
  reopen(): Promise<StoreHarness>
  /** Of each delivery of a dispatch its status, and after it the reason if there is one. */
  states(dispatchId: string, tenant?: string): Promise<readonly string[]>
}

/** A case, told as a sentence. */
export function contractCase(
  name: string,
  run: (harness: StoreHarness) => Promise<void>,
  need?: keyof StoreCapabilities,
): DispatchCase {
  return {
    name,
    ...(need && { needs: [need] }),
    run(trial) {
      ok(
        need !== 'secondHandle' || trial.other,
        '`create` gave no `other`: give one, or say that there is no secondHandle',
      )
      return run(harness(trial))
    },
  }
}

function harness(trial: StoreTrial<DispatchStore>): StoreHarness {
  const { store, other = store } = trial

  async function found(dispatchId: string, tenant = TENANT): Promise<Dispatch> {
    const dispatch = await other.findDispatch(tenant, dispatchId)
    ok(dispatch, `the dispatch ${dispatchId} is not there`)
    return structuredClone(dispatch)
  }

  async function claimOne(channel = 'a', leaseMs: number = LEASE): Promise<ClaimedDelivery> {
    const [claimed] = (await store.claim({ limits: { [channel]: 1 }, leaseMs, busy: [] })).deliveries
    ok(claimed, `nothing of the channel ${channel} is handed out`)
    return claimed
  }

  return {
    store,
    other,
    now: () => trial.now(),
    advance: async (ms) => trial.advance(ms),
    accept: (dispatchId, given, through = store) => through.accept(acceptance(dispatchId, given)),
    claim: (limits = { a: 100 }, leaseMs = LEASE) => store.claim({ limits, leaseMs, busy: [] }),
    async claimAll() {
      const all: ClaimedDelivery[] = []
      for (const _ of numbers(MOST_CLAIMS)) {
        const { deliveries } = await store.claim({ limits: { a: 999 }, leaseMs: LEASE, busy: [] })
        if (deliveries.length === 0) return all
        all.push(...deliveries)
      }
      throw new Error(`there is more to hand out after ${MOST_CLAIMS} claims, though nothing was put back`)
    },
    claimOne,
    async fail(channel) {
      const claimed = await claimOne(channel)
      await store.settle({ ...proof(claimed), to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
    },
    found,
    async only(dispatchId, tenant) {
      const [delivery] = (await found(dispatchId, tenant)).deliveries
      ok(delivery, `the dispatch ${dispatchId} has no delivery`)
      return delivery
    },
    async reopen() {
      const reopened = await trial.reopen?.()
      ok(reopened, '`create` gave no `reopen`: give one, or do not say that it is durable')
      return harness({ ...trial, store: reopened, other: reopened })
    },
    states: async (dispatchId, tenant) => (await found(dispatchId, tenant)).deliveries.map(stateOf),
  }
}

function stateOf({ status, reason }: Pick<Delivery, 'status' | 'reason'>): string {
  return reason === undefined ? status : `${status} ${reason}`
}

/** The ids of deliveries in the order of the alphabet: where the port promises no order, none is looked at. */
export function idsOf(items: readonly { readonly deliveryId: string }[]): string[] {
  return items.map(({ deliveryId }) => deliveryId).sort()
}

/** In the order of their ids, for the same reason. */
export function byId<T extends { readonly deliveryId: string }>(items: readonly T[]): T[] {
  return [...items].sort((one, other) => (one.deliveryId < other.deliveryId ? -1 : 1))
}

/** When something was done: between these two, by the store's time. */
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

/** Fails unless it is a number from one to the other, both included. */
export function between(actual: number | undefined, low: number, high: number, what: string): void {
  const fits = actual !== undefined && actual >= low && actual <= high
  ok(fits, `${what}: expected ${low === high ? low : `${low} to ${high}`}, got ${actual}`)
}

export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}

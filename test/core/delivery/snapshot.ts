import { isDeepStrictEqual } from 'node:util'
import type { Delivery, Dispatch } from '../../../src/model/dispatch.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { TENANTS } from './operations.ts'

/** All dispatches of a store, oldest first, tenant by tenant. */
export type Snapshot = readonly Dispatch[]

/** One delivery of one dispatch; a digest appears once in each of its dispatches. */
export interface Seen {
  readonly id: string
  readonly dispatch: Dispatch
  readonly delivery: Delivery
}

export async function snapshotOf(store: DispatchStore): Promise<Snapshot> {
  const dispatches: Dispatch[] = []
  for (const tenant of TENANTS)
    dispatches.push(...(await store.listDispatches({ tenant, limit: 10_000 })).items.toReversed())
  return dispatches
}

/** Deliveries by dispatch and channel, which never change. */
export function deliveriesOf(snapshot: Snapshot): ReadonlyMap<string, Seen> {
  const seen = new Map<string, Seen>()
  for (const dispatch of snapshot) {
    for (const delivery of dispatch.deliveries) {
      const id = `${dispatch.dispatchId}/${delivery.channel}`
      seen.set(id, { id, dispatch, delivery })
    }
  }
  return seen
}

/** Deep equality; compares JSON texts first, which is quick. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other) || isDeepStrictEqual(one, other)
}

/** A copy of a store's result; then mutates the result, which must not change the store. */
export function takenFrom<T>(given: T): T {
  const copy = structuredClone(given)
  mutate(given)
  return copy
}

function mutate(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    mutate(member)
    Reflect.set(value, key, 'spoilt')
  }
}

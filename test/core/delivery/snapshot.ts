import { isDeepStrictEqual } from 'node:util'
import type { Delivery, Dispatch } from '../../../src/model/dispatch.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { TENANTS } from './operations.ts'

/** All that a store has, oldest first, tenant by tenant. */
export type Snapshot = readonly Dispatch[]

/** One delivery in one dispatch: of a digest each of its dispatches has it. */
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

/** By dispatch and channel, which stay what they are whatever becomes of the delivery. */
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

/** Equal to the last field; as text first, which is quick. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other) || isDeepStrictEqual(one, other)
}

/** A copy of what a store gave, which is spoilt afterwards: nothing that is stored may change by that. */
export function takenFrom<T>(given: T): T {
  const copy = structuredClone(given)
  spoil(given)
  return copy
}

function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    spoil(member)
    Reflect.set(value, key, 'spoilt')
  }
}

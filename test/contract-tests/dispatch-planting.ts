import { dispatchStoreContract } from '../../src/contract-tests/dispatch-store-contract.ts'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { dispatchRules } from '../storage/engine/rule-cases/rules.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'

/** The methods of a store that a bug replaces. */
export type Bug = Partial<DispatchStore>

/**
 * Makes a bug. Called once with the shared store; its result is called once for each process: two that run together,
 * and a third that starts when both have ended.
 */
export type Plant = (store: DispatchStore, clock: FakeClock) => () => Bug

/** A bug, and the case that must catch it. */
export interface Planted {
  readonly name: string
  readonly caughtBy: string
  readonly plant: Plant
}

/** All cases of the contract and of the rules by name, on a store with or without a bug. */
export function casesWith(plant?: Plant): ReadonlyMap<string, () => Promise<void>> {
  const cases = new Map<string, () => Promise<void>>()
  const options = {
    test(name: string, body: () => Promise<void>) {
      if (cases.has(name)) throw new Error(`two cases have one name: ${name}`)
      cases.set(name, body)
    },
    create() {
      const clock = fakeClock()
      const store = memoryStore({ clock })
      const process = plant?.(store, clock) ?? (() => ({}))
      return {
        store: { ...store, ...process() },
        other: { ...store, ...process() },
        now: clock.now,
        advance: clock.advance,
        reopen: () => ({ ...store, ...process() }),
      }
    },
  }
  dispatchStoreContract({ ...options, capabilities: { durable: true } })
  dispatchRules(options)
  return cases
}

/** True if the case fails. */
export async function fails(run: (() => Promise<void>) | undefined): Promise<boolean> {
  if (!run) throw new Error('there is no such case')
  return run().then(
    () => false,
    () => true,
  )
}

import type { DispatchStore } from '../../src/ports/dispatch-store.ts'

/** A store with random latency, so that concurrent calls arrive in another order. */
export function unhurried(store: DispatchStore, seed: number): DispatchStore {
  let chance = seed
  async function onTheWay(): Promise<void> {
    chance = (chance * 48_271) % 2_147_483_647
    for (let turns = chance % 4; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
  }
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...given: unknown[]) => {
        await onTheWay()
        const answer: unknown = await Reflect.apply(method, target, given)
        await onTheWay()
        return answer
      }
    },
  })
}

import type { SallyportStore } from '../../../../src/ports/sallyport-store.ts'
import type { Chance } from '../../../labs/chaos/chance.ts'

/** Holds back the changes of concurrent calls until all of them have decided, so that all decide about the same approval. */
export interface Meeting {
  /** A store whose changes are held back. */
  through(store: SallyportStore): SallyportStore
  /** Counts changes from here on, and holds back until there are this many. 0: none. */
  hold(changes: number): void
  /** Resolves when there were this many changes. */
  reached(changes: number): Promise<void>
  /** Changes that a concurrent one prevented. */
  readonly conflicts: number
}

export function meeting(chance: Chance): Meeting {
  let expected = 0
  let count = 0
  let conflicts = 0
  const held: (() => void)[] = []
  const waiting = new Set<() => void>()
  return {
    hold(changes) {
      expected = changes
      count = 0
    },
    reached: (changes) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (count < changes) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    get conflicts() {
      return conflicts
    },
    through: (store) => ({
      ...store,
      async commitUnit(unit) {
        count += 1
        for (const look of [...waiting]) look()
        if (count < expected) await new Promise<void>((resolve) => held.push(resolve))
        else await letGo(held, chance)
        const committed = await store.commitUnit(unit)
        if (committed.outcome === 'conflict') conflicts += 1
        return committed
      },
    }),
  }
}

/** Resolves at the caller's turn among those that were held, in random order. */
function letGo(held: (() => void)[], chance: Chance): Promise<void> {
  return new Promise((resolve) => {
    for (const goOn of shuffled([...held.splice(0), resolve], chance)) goOn()
  })
}

export function shuffled<T>(list: readonly T[], chance: Chance): readonly T[] {
  const rest = [...list]
  return list.map(() => rest.splice(chance.between(0, rest.length - 1), 1)[0] as T)
}

import { AssertionError } from 'node:assert'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { tokenStoreContract } from '../../src/contract-tests/token-store-contract.ts'
import type { TokenStore } from '../../src/ports/token-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'

describe('tokenStoreContract on the memory store', () => {
  tokenStoreContract({
    test: it,
    skip: it.skip,
    create() {
      const { now, advance } = fakeClock()
      return { store: memoryStore({ clock: { now } }), now, advance }
    },
    capabilities: { secondHandle: false },
  })
})

interface Bug {
  /** What the store does. */
  readonly it: string
  plant(store: TokenStore): TokenStore
  readonly caughtBy: readonly string[]
}

const BUGS: readonly Bug[] = [
  {
    it: 'stores a repeated use again',
    plant(store) {
      let rows = 0
      return {
        ...store,
        recordTokenUses: (uses) =>
          store.recordTokenUses(uses.map((use) => ({ ...use, useId: `${use.useId} ${++rows}` }))),
        async listTokenUses(query) {
          const page = await store.listTokenUses(query)
          return { ...page, items: page.items.map((use) => ({ ...use, useId: use.useId.split(' ')[0] ?? '' })) }
        },
      }
    },
    caughtBy: ['the same uses stored twice are stored once', 'concurrent calls with the same uses store them once'],
  },
  {
    it: 'never stores the id of a removed use again',
    plant(store) {
      const known = new Set<string>()
      return {
        ...store,
        async recordTokenUses(uses) {
          await store.recordTokenUses(uses.filter(({ useId }) => !known.has(useId)))
          for (const { useId } of uses) known.add(useId)
        },
      }
    },
    caughtBy: ['a use that was removed can be stored again'],
  },
]

describe('tokenStoreContract', () => {
  it.each(BUGS)('tokenStoreContract catches a store that $it', async ({ plant, caughtBy }) => {
    const cases = new Map<string, () => Promise<void>>()
    tokenStoreContract({
      test: (name, body) => cases.set(name, body),
      create() {
        const { now, advance } = fakeClock()
        return { store: plant(memoryStore({ clock: { now } })), now, advance }
      },
      capabilities: { secondHandle: false },
    })
    for (const name of caughtBy) await expect(cases.get(name)?.()).rejects.toBeInstanceOf(AssertionError)
  })
})

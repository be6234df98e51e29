import { AssertionError } from 'node:assert'
import { describe, expect, it } from 'vitest'
import type { StoreTrial } from '../../src/contract-tests/contract.ts'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { runStoreContract } from '../../src/contract-tests/run-store-contract.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { runRules } from '../storage/engine/rule-cases/rules.ts'
import { SESSION_LIST_BUGS } from './run-list-bugs.ts'
import { MERGE_BUGS } from './run-merge-bugs.ts'
import { SESSION_BUGS } from './run-session-bugs.ts'
import { SOURCE_BUGS } from './run-source-bugs.ts'
import { STORE_BUGS } from './run-store-bugs.ts'

/** All cases of the contract and of the rules by name, on a store with a bug. */
function casesOf(create: () => StoreTrial<RunStore>): ReadonlyMap<string, () => Promise<void>> {
  const cases = new Map<string, () => Promise<void>>()
  const test = (name: string, body: () => Promise<void>) => cases.set(name, body)
  runStoreContract({ test, create, capabilities: { durable: true } })
  runRules({ test, create })
  return cases
}

function trialOf(plant: (store: RunStore) => RunStore): StoreTrial<RunStore> {
  const { now, advance } = fakeClock()
  const kept = memoryStore({ clock: { now } })
  const store = plant(kept)
  return { store, other: { ...store }, now, advance, reopen: () => plant(kept) }
}

/** True if an assertion of the case fails. Errors of the store are thrown. */
async function catches(cases: ReadonlyMap<string, () => Promise<void>>, name: string): Promise<boolean> {
  const body = cases.get(name)
  if (!body) throw new Error(`there is no case of the name: ${name}`)
  return body().then(
    () => false,
    (error: unknown) => {
      if (!(error instanceof AssertionError)) throw error
      return true
    },
  )
}

describe('runStoreContract on a correct store', () => {
  it.each([...casesOf(() => trialOf((store) => store))])('A correct run store passes: %s', (_name, body) => body())
})

describe('runStoreContract on a correct store whose clock runs', () => {
  const start = Date.UTC(2026, 10, 21, 8) - performance.now()
  const cases = casesOf(() => {
    let ahead = 0
    const now = (): number => Math.floor(start + performance.now() + ahead)
    const store = memoryStore({ clock: { now } })
    const advance = (ms: number): void => {
      ahead += ms
    }
    return { store, other: store, now, advance, reopen: () => store }
  })
  it.each([...cases])('A correct run store whose clock runs passes: %s', (_name, body) => body())
})

describe('runStoreContract and the rules of merges', () => {
  it.each([...MERGE_BUGS, ...SESSION_BUGS, ...SESSION_LIST_BUGS, ...SOURCE_BUGS, ...STORE_BUGS])(
    'A case catches a store that $it',
    async ({ plant, caughtBy }) => {
      const cases = casesOf(() => trialOf(plant))
      const passed: string[] = []
      for (const name of caughtBy) if (!(await catches(cases, name))) passed.push(name)
      expect(passed).toEqual([])
    },
  )

  it('runStoreContract catches a store whose clock is five minutes ahead', async () => {
    const cases = casesOf(() => {
      const { now, advance } = fakeClock()
      return { store: memoryStore({ clock: { now: () => now() + 300_000 } }), now, advance }
    })
    expect(await catches(cases, 'createdAt, updatedAt and lastSeenAt are the time of the store')).toBe(true)
  })
})

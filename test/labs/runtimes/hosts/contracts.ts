import { memoryStore } from 'sallyport/storage/memory'
import { sqlStore } from 'sallyport/storage/sql'
import {
  dispatchStoreContract,
  fakeClock,
  recordStoreContract,
  runStoreContract,
  type StoreTrial,
} from 'sallyport/testing'
import { kyselyOf, type SqliteDatabase } from './sqlite.ts'

/** Results of the contracts of a store: the number of passed cases, and the failures. */
export interface ContractResults {
  readonly kept: number
  readonly broken: readonly string[]
}

/** Runs the contracts of dispatches, runs and records of plugins on the memory store. */
export function tryMemoryStore(): Promise<ContractResults> {
  return trying((clock) => ({ store: memoryStore({ clock }) }))
}

/** Runs them on the SQL store, over the runtime's SQLite. */
export function trySqliteStore(open: () => SqliteDatabase): Promise<ContractResults> {
  return trying(async (clock) => {
    const db = kyselyOf(open())
    const store = sqlStore({ db, dialect: 'sqlite', clock, timeoutMs: 30_000 })
    await store.migrate()
    return { store, close: () => db.destroy() }
  })
}

type Store = ReturnType<typeof memoryStore>
type Made = Pick<StoreTrial<Store>, 'store' | 'close'>

async function trying(make: (clock: { now(): number }) => Made | Promise<Made>): Promise<ContractResults> {
  const cases: { readonly name: string; readonly body: () => Promise<void> }[] = []
  const options = {
    test: (name: string, body: () => Promise<void>) => void cases.push({ name, body }),
    skip: () => {},
    async create(): Promise<StoreTrial<Store>> {
      const clock = fakeClock()
      return { ...(await make(clock)), now: clock.now, advance: clock.advance }
    },
    capabilities: { secondHandle: false },
  }
  dispatchStoreContract(options)
  runStoreContract(options)
  recordStoreContract(options)
  const broken: string[] = []
  for (const { name, body } of cases) await body().catch((error: unknown) => void broken.push(`${name}: ${error}`))
  return { kept: cases.length - broken.length, broken }
}

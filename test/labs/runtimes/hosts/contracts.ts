import { memoryStore } from 'sallyport/storage/memory'
import { sqlStore } from 'sallyport/storage/sql'
import { dispatchStoreContract, fakeClock, runStoreContract, type StoreTrial } from 'sallyport/testing'
import { kyselyOf, type SqliteDatabase } from './sqlite.ts'

/** What came of the contracts of a store: how many cases it kept, and what was wrong with those that it did not keep. */
export interface Kept {
  readonly kept: number
  readonly broken: readonly string[]
}

/** Holds the memory store to the contracts of both its ports. */
export function tryMemoryStore(): Promise<Kept> {
  return trying((clock) => ({ store: memoryStore({ clock }) }))
}

/** Holds the SQL store to them, over a SQLite that the runtime brings. */
export function trySqliteStore(open: () => SqliteDatabase): Promise<Kept> {
  return trying(async (clock) => {
    const db = kyselyOf(open())
    const store = sqlStore({ db, dialect: 'sqlite', clock, timeoutMs: 30_000 })
    await store.migrate()
    return { store, close: () => db.destroy() }
  })
}

type Store = ReturnType<typeof memoryStore>
type Made = Pick<StoreTrial<Store>, 'store' | 'close'>

async function trying(make: (clock: { now(): number }) => Made | Promise<Made>): Promise<Kept> {
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
  const broken: string[] = []
  for (const { name, body } of cases) await body().catch((error: unknown) => void broken.push(`${name}: ${error}`))
  return { kept: cases.length - broken.length, broken }
}

import { afterAll, beforeAll, describe, test } from 'vitest'
import type { StoreTrial } from '../../../src/contract-tests/contract.ts'
import { dispatchStoreContract } from '../../../src/contract-tests/dispatch-store-contract.ts'
import { fakeClock } from '../../../src/contract-tests/fake-clock.ts'
import { recordStoreContract } from '../../../src/contract-tests/record-store-contract.ts'
import { revocationStoreContract } from '../../../src/contract-tests/revocation-store-contract.ts'
import { runStoreContract } from '../../../src/contract-tests/run-store-contract.ts'
import { type SqlStore, sqlStore } from '../../../src/storage/sql/index.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { emptyTables } from '../store-each.ts'

type TestHost = ReturnType<TestDatabase['connect']>

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`a store in ${kind.name}${kind.absent ? `: ${kind.absent}` : ''}`, () => {
    let database: TestDatabase
    let clock = fakeClock()

    const time = { now: () => clock.now() }
    const open = (db = database.connect()): SqlStore =>
      sqlStore({ db, dialect: kind.name, clock: time, timeoutMs: UNHURRIED_MS })
    let hosts: readonly [TestHost, TestHost]

    beforeAll(async () => {
      database = await kind.open()
      hosts = [database.connect(), database.connect()]
    })
    afterAll(() => database.close())

    async function create(): Promise<StoreTrial<SqlStore>> {
      clock = fakeClock()
      await emptyTables(database, hosts[0])
      // A new store: the clock of this case starts again.
      const [store, other] = [open(hosts[0]), open(hosts[1])]
      return { store, other, now: clock.now, advance: (ms) => clock.advance(ms), reopen: async () => open() }
    }

    const capabilities = { durable: true }
    describe('dispatches', () => dispatchStoreContract({ test, skip: test.skip, create, capabilities }))
    describe('runs', () => runStoreContract({ test, skip: test.skip, create, capabilities }))
    describe('revocations', () => revocationStoreContract({ test, skip: test.skip, create, capabilities }))
    describe('records', () => recordStoreContract({ test, skip: test.skip, create, capabilities }))
  })

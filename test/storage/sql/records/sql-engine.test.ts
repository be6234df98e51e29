import { afterAll, beforeAll, describe, test } from 'vitest'
import type { StoreTrial } from '../../../../src/contract-tests/contract.ts'
import { dispatchStoreContract } from '../../../../src/contract-tests/dispatch-store-contract.ts'
import { fakeClock } from '../../../../src/contract-tests/fake-clock.ts'
import { feedbackStoreContract } from '../../../../src/contract-tests/feedback-store-contract.ts'
import { preferenceStoreContract } from '../../../../src/contract-tests/preference-store-contract.ts'
import { runStoreContract } from '../../../../src/contract-tests/run-store-contract.ts'
import { statisticsStoreContract } from '../../../../src/contract-tests/statistics-store-contract.ts'
import { tokenStoreContract } from '../../../../src/contract-tests/token-store-contract.ts'
import type { SallyportStore } from '../../../../src/ports/sallyport-store.ts'
import { engineStore } from '../../../../src/storage/engine/engine-store.ts'
import { openDatabase } from '../../../../src/storage/sql/connection/database.ts'
import { DIALECTS } from '../../../../src/storage/sql/dialects/dialects.ts'
import { sqlStore } from '../../../../src/storage/sql/index.ts'
import { sqlRecords } from '../../../../src/storage/sql/sql-records.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../../databases.ts'
import { emptyTables } from '../../store-each.ts'

type TestHost = ReturnType<TestDatabase['connect']>

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`the engine over ${kind.name}${kind.absent ? `: ${kind.absent}` : ''}`, () => {
    let database: TestDatabase
    let hosts: readonly [TestHost, TestHost]
    let clock = fakeClock()
    const time = { now: () => clock.now() }

    const open = (db = database.connect()): SallyportStore =>
      engineStore(
        sqlRecords(
          openDatabase({
            db,
            dialect: DIALECTS[kind.name],
            prefix: 'sallyport_',
            timeoutMs: UNHURRIED_MS,
            clock: time,
          }),
        ),
      )
    const openToday = (db: TestHost): SallyportStore =>
      sqlStore({ db, dialect: kind.name, clock: time, timeoutMs: UNHURRIED_MS })

    beforeAll(async () => {
      database = await kind.open()
      hosts = [database.connect(), database.connect()]
    })
    afterAll(() => database.close())

    async function trialOf(
      openOne: (db: TestHost) => SallyportStore,
      openOther: (db: TestHost) => SallyportStore,
    ): Promise<StoreTrial<SallyportStore>> {
      clock = fakeClock()
      await emptyTables(database, hosts[0])
      const [store, other] = [openOne(hosts[0]), openOther(hosts[1])]
      return { store, other, now: clock.now, advance: (ms) => clock.advance(ms), reopen: async () => open() }
    }

    const create = () => trialOf(open, open)
    const capabilities = { durable: true }
    describe('dispatches', () => dispatchStoreContract({ test, skip: test.skip, create, capabilities }))
    describe('runs', () => runStoreContract({ test, skip: test.skip, create, capabilities }))
    describe('tokens', () => tokenStoreContract({ test, skip: test.skip, create, capabilities }))
    describe('feedback', () => feedbackStoreContract({ test, skip: test.skip, create, capabilities }))
    describe('preferences', () => preferenceStoreContract({ test, skip: test.skip, create, capabilities }))
    describe('statistics', () => statisticsStoreContract({ test, skip: test.skip, create, capabilities }))

    // Both read what the other has stored. SQLite is the fastest; the others run the contracts of each.
    if (kind.name !== 'sqlite') return
    const dispatches = { test, skip: test.skip, create: () => trialOf(open, openToday), capabilities }
    describe('dispatches of the engine beside the store of before', () => dispatchStoreContract(dispatches))
    const runs = { test, skip: test.skip, create: () => trialOf(openToday, open), capabilities }
    describe('runs of the store of before beside the engine', () => runStoreContract(runs))
  })

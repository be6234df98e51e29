import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { fakeClock } from '../../../../src/contract-tests/fake-clock.ts'
import { type RecordsTrial, recordsContract } from '../../../../src/contract-tests/records-contract.ts'
import { Unreadable } from '../../../../src/storage/engine/json-values.ts'
import type { Records } from '../../../../src/storage/engine/records.ts'
import { openDatabase } from '../../../../src/storage/sql/connection/database.ts'
import { DIALECTS } from '../../../../src/storage/sql/dialects/dialects.ts'
import { sqlRecords } from '../../../../src/storage/sql/sql-records.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../../databases.ts'
import { emptyTables } from '../../store-each.ts'

type TestHost = ReturnType<TestDatabase['connect']>

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`sqlRecords in ${kind.name}${kind.absent ? `: ${kind.absent}` : ''}`, () => {
    let database: TestDatabase
    let hosts: readonly [TestHost, TestHost]
    let clock = fakeClock()

    const open = (db: TestHost): Records =>
      sqlRecords(
        openDatabase({
          ...{ db, dialect: DIALECTS[kind.name], prefix: 'sallyport_', timeoutMs: UNHURRIED_MS },
          clock: { now: () => clock.now() },
        }),
      )

    beforeAll(async () => {
      database = await kind.open()
      hosts = [database.connect(), database.connect()]
    })
    afterAll(() => database.close())

    async function create(): Promise<RecordsTrial> {
      clock = fakeClock()
      await emptyTables(database, hosts[0])
      const [records, other] = [open(hosts[0]), open(hosts[1])]
      return {
        records,
        other,
        now: clock.now,
        advance: clock.advance,
        reopen: () => open(database.connect()),
      }
    }

    recordsContract({ test, skip: test.skip, create, capabilities: { durable: true } })

    it('JSON that lacks what the engine uses is unreadable, and an update writes its text again', async () => {
      await emptyTables(database, hosts[0])
      const records = open(hosts[0])
      const sum = {
        tenant: 't',
        session_id: 's',
        run_id: 'r',
        totals: new Unreadable('run_sums.totals', '{"a'),
        version: 1,
      }
      const read = async () => (await records.read([{ kind: 'run_sums', with: [['t']] }])).run_sums
      expect(await records.commit([{ do: 'insert', kind: 'run_sums', records: [sum] }])).toBe(true)
      expect(await read()).toEqual([sum])
      const other = { ...sum, totals: new Unreadable('run_sums.totals', '{}') }
      expect(await records.commit([{ do: 'update', kind: 'run_sums', records: [other] }])).toBe(true)
      expect(await read()).toEqual([{ ...other, version: 2 }])
    })
  })

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonSize } from '../../../src/storage/engine/group-commit.ts'
import type { HostKysely } from '../../../src/storage/sql/index.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { acceptance, deliveriesOf, delivery } from '../storing.ts'

/** A database that records the longest text of one statement. */
function measured(db: HostKysely): { readonly host: HostKysely; readonly largest: () => number } {
  let most = 0
  const over = (host: HostKysely): HostKysely => ({
    isTransaction: host.isTransaction,
    withoutPlugins: () => over(host.withoutPlugins()),
    connection: () => ({ execute: (work) => host.connection().execute((own) => work(over(own))) }),
    executeQuery(query) {
      let length = 0
      for (const parameter of query.parameters) length += typeof parameter === 'string' ? parameter.length : 0
      most = Math.max(most, length)
      return host.executeQuery(query)
    },
  })
  return { host: over(db), largest: () => most }
}

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`large batches on ${kind.name}`, () => {
    let database: TestDatabase | undefined
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database?.close())

    it('Concurrent large events are stored, in statements that the database accepts', async () => {
      const { host, largest } = measured((database as TestDatabase).connect())
      const store = sqlStore({ db: host, dialect: kind.name, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      const content = { text: 'x'.repeat(60_000), html: '<p class="a">"\\é€</p>'.repeat(2_000) }
      const accepting = Array.from({ length: 60 }, (_, at) =>
        store.accept(acceptance(`d${at}`, { deliveries: [delivery(`d${at}-a`, { content })] })),
      )
      for (const { outcome } of await Promise.all(accepting)) expect(outcome).toBe('accepted')
      expect((await deliveriesOf(store, 'd59'))[0]?.content).toEqual(content)
      expect(largest()).toBeLessThan(2_000_000)
      expect(largest()).toBeGreaterThan(700_000)
    })
  })

describe('jsonSize', () => {
  it('jsonSize is close to the length of the JSON text', () => {
    const values = ['a text', { subject: 'Hi', html: 'x'.repeat(500), to: ['a', 'b'] }, [1, null, true], undefined]
    for (const value of values) {
      const { length } = JSON.stringify(value) ?? ''
      expect(Math.abs(jsonSize(value) - length)).toBeLessThan(40)
    }
  })
})

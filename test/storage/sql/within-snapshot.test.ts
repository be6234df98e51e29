import type { IsolationLevel } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { HostKysely, HostTransaction } from '../../../src/storage/sql/index.ts'
import { openPostgresql } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, delivery, keyed } from '../storing.ts'
import { type AnyKysely, run } from './migrating-stores.ts'

const LIMITED = delivery('a', { limits: [{ key: 'l', max: 5, windowMs: 60_000 }] })
const limited = (id: string) => acceptance(id, { deliveries: [{ ...LIMITED, deliveryId: `${id}-a` }] })

/** A transaction that counts tries. */
function counting(transaction: HostKysely): HostTransaction & { readonly tries: () => number } {
  let tries = 0
  const counted = {
    isTransaction: true as const,
    tries: () => tries,
    withoutPlugins: () => counted,
    connection: () => transaction.connection(),
    executeQuery: (query: Parameters<HostKysely['executeQuery']>[0]) => {
      if (query.sql.startsWith('savepoint')) tries++
      return transaction.executeQuery(query)
    },
  }
  return counted as HostTransaction & { readonly tries: () => number }
}

describe('within a transaction that keeps its first snapshot', () => {
  const own = storeEach(openPostgresql)

  for (const level of ['repeatable read', 'serializable'] satisfies IsolationLevel[])
    for (const [what, accepted, code] of [
      ['a key that another took', (id: string) => keyed(id), '23505'],
      ['a limit that another counted for', limited, '40001'],
    ] as const)
      it(`At ${level}, within() throws the database's error for ${what}, and the host retries the transaction`, async () => {
        const inTransaction = (work: (inner: AnyKysely) => Promise<void>) =>
          own.db.transaction().setIsolationLevel(level).execute(work)
        await own.other.accept(limited('d0'))
        const tried: number[] = []
        const failed = inTransaction(async (transaction) => {
          await run(transaction, 'select 1')
          await own.other.accept(accepted('d1'))
          const inner = counting(transaction)
          try {
            await own.other.within(inner).accept(accepted('d2'))
          } finally {
            tried.push(inner.tries())
          }
        })
        await expect(failed).rejects.toMatchObject({ code })
        expect(tried).toEqual([1])
        expect(await own.other.findDispatch('default', 'd2')).toBeUndefined()
        await inTransaction(async (transaction) => {
          const again = await own.other.within(transaction as HostTransaction).accept(accepted('d2'))
          expect(again.outcome).toBe(code === '23505' ? 'replayed' : 'accepted')
        })
      })

  it('At read committed, within() itself retries', async () => {
    await own.db
      .transaction()
      .setIsolationLevel('read committed')
      .execute(async (transaction) => {
        await run(transaction, 'select 1')
        await own.other.accept(keyed('d1'))
        expect((await own.other.within(transaction as HostTransaction).accept(keyed('d2'))).outcome).toBe('replayed')
      })
  })
})

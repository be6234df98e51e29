import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, claimOne, delivery, lease } from '../storing.ts'

/** Lists of addresses and parts of attempts, which a later version stores: processes of two versions share a database. */
for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`members of a later version in ${kind.name}`, () => {
    const own = storeEach(kind.open)
    const addresses = ['first@example.com', 'second@example.com']
    const parts = [
      { at: 0, outcome: 'sent' },
      { at: 1, outcome: 'retry', code: 'timeout' },
    ]

    async function replaceInStates(before: string, after: string): Promise<void> {
      const text = `update sallyport_states set body = replace(body, '${before}', '${after}')`
      await own.db.executeQuery(CompiledQuery.raw(text))
    }

    it('A list of addresses and the parts of an attempt are kept, shown to the worker, and erased', async () => {
      const store = own.other
      await store.accept(acceptance('A', { deliveries: [delivery('A-a')] }))
      const retry = { to: 'queued', delayMs: 1, attempt: { outcome: 'retry', code: 'timeout' } } as const
      await store.settle({ ...lease(await claimOne(store)), ...retry })
      await replaceInStates('"address":"jane@example.com"', `"address":${JSON.stringify(addresses)}`)
      await replaceInStates('"outcome":"retry"', `"outcome":"retry","parts":${JSON.stringify(parts)}`)
      own.clock.advance(1_000)
      const claimed = await claimOne(store)
      expect(claimed).toMatchObject({ address: addresses, history: [{ attempt: 1, parts }] })
      await store.settle({ ...lease(claimed), to: 'sent', attempt: { outcome: 'sent' } })
      const kept = {
        status: 'sent',
        address: addresses,
        attemptLog: [
          { attempt: 1, parts },
          { attempt: 2, outcome: 'sent' },
        ],
      }
      expect(await store.findDispatch('default', 'A')).toMatchObject({ deliveries: [kept] })
      await store.eraseDispatch('default', 'A')
      const { rows } = await own.db.executeQuery<{ readonly body: string }>(
        CompiledQuery.raw('select body from sallyport_states'),
      )
      expect(rows[0]?.body).not.toContain('example.com')
    })
  })

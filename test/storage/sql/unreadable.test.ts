import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Claims } from '../../../src/ports/dispatch-store.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, claim, claimOne, deliveriesOf, delivery, digested, HOUR, ids, keyed, lease } from '../storing.ts'

const LOST = { status: 'failed', reason: 'record_unreadable' }

/** Records of a delivery that is due, with its deliveries: `bad-a` is damaged, or a digest of `bad` and `joined`. */
const RECORDS = [
  { table: 'states', column: 'body', key: 'dispatch_id', of: 'bad' },
  { table: 'contents', column: 'body', key: 'delivery_id', of: 'bad-a' },
  { table: 'jobs', column: 'begun', key: 'delivery_id', of: 'bad-a' },
  { table: 'digests', column: 'body', key: 'delivery_id', of: 'bad-a' },
  { table: 'members', column: 'event_data', key: 'dispatch_id', of: 'bad' },
] as const

/** A text that was cut off, no JSON, JSON of another shape, and nothing. */
const DAMAGES: readonly (readonly [name: string, damage: (text: string) => string])[] = [
  ['cut off', (text) => text.slice(0, Math.ceil(text.length / 2)) || '{'],
  ['no JSON', () => 'x'],
  ['other JSON', () => '7'],
  ['empty', () => ''],
]

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`unreadable records of ${kind.name}`, () => {
    const own = storeEach(kind.open)
    const isDigest = (table: string) => table === 'digests' || table === 'members'
    const run = (text: string) => own.db.executeQuery(CompiledQuery.raw(text))

    async function textOf({ table, column, key, of }: (typeof RECORDS)[number]): Promise<string | undefined> {
      const { rows } = await run(`select ${column} as found from sallyport_${table} where ${key} = '${of}'`)
      return (rows[0] as { readonly found: string } | undefined)?.found
    }

    /** Stores `bad`, `joined` and `good`, damages a record, and returns its new text. */
    async function damaged(record: (typeof RECORDS)[number], damage: (text: string) => string): Promise<string> {
      const deliveries = isDigest(record.table)
        ? [digested('bad-a'), delivery('bad-b')]
        : [delivery('bad-a'), delivery('bad-b')]
      await own.other.accept(acceptance('bad', { deliveries }))
      if (isDigest(record.table)) await own.other.accept(acceptance('joined', { deliveries: [digested('joined-a')] }))
      await own.other.accept(acceptance('good', { recipient: 'joe@example.com' }))
      own.clock.advance(1_000)
      const text = damage((await textOf(record)) ?? '')
      const { table, column, key, of } = record
      await run(`update sallyport_${table} set ${column} = '${text}' where ${key} = '${of}'`)
      return text
    }

    const changesOf = ({ unreadable = [] }: Claims) =>
      Object.fromEntries(unreadable.map(({ deliveryId, status, reason }) => [deliveryId, { status, reason }]))

    describe.each(RECORDS)('of $table', (record) => {
      // A job without begun attempts has an empty text.
      const damages = DAMAGES.filter(([name]) => record.table !== 'jobs' || name !== 'empty')

      it.each(damages)('Its delivery fails alone, and the others are leased: %s', async (_, damage) => {
        const text = await damaged(record, damage)
        const claims = await claim(own.other)
        const isState = record.table === 'states'
        expect(ids(claims.deliveries).sort()).toEqual(isState ? ['good-a'] : ['bad-b', 'good-a'])
        expect(changesOf(claims)).toEqual(isState ? { 'bad-a': LOST, 'bad-b': LOST } : { 'bad-a': LOST })
        for (const one of claims.deliveries)
          expect(await own.other.settle({ ...lease(one), to: 'sent', attempt: { outcome: 'sent' } })).toMatchObject({
            live: true,
          })
        expect(await deliveriesOf(own.other, 'bad')).toMatchObject([LOST, isState ? LOST : { status: 'sent' }])
        own.clock.advance(HOUR)
        expect(await claim(own.other)).toMatchObject({ deliveries: [] })
        const status = isState ? 'failed' : 'partial'
        const { items } = await own.other.listDispatches({ tenant: 'default', limit: 9, status })
        expect(items.map(({ dispatchId }) => dispatchId)).toContain('bad')
        const byReason = { tenant: 'default', limit: 9, reason: 'record_unreadable' } as const
        expect((await own.other.listDispatches(byReason)).items.map(({ dispatchId }) => dispatchId)).toContain('bad')
        if (record.table !== 'jobs') expect(await textOf(record)).toBe(text)
      })

      it.each(damages)('It is erased, and does not hinder other erasures: %s', async (_, damage) => {
        const text = await damaged(record, damage)
        expect(await own.other.eraseDispatch('default', 'good')).toMatchObject({ dispatches: 1 })
        expect(await own.other.eraseDispatch('default', 'bad')).toMatchObject({
          dispatches: isDigest(record.table) ? 2 : 1,
        })
        expect(await textOf(record)).not.toBe(text)
        expect(await own.other.findDispatch('default', 'bad')).toMatchObject({ recipient: 'erased' })
        expect(await claim(own.other)).toMatchObject({ deliveries: [] })
        for (const table of Object.keys(TABLES)) {
          const { rows } = await run(`select * from sallyport_${table}`)
          expect(JSON.stringify(rows)).not.toContain('jane')
        }
      })

      it.each(damages)('It is removed by age: %s', async (_, damage) => {
        await damaged(record, damage)
        for (let rounds = 0; rounds < 3; rounds++) {
          for (const one of (await claim(own.other)).deliveries)
            await own.other.settle({ ...lease(one), to: 'sent', attempt: { outcome: 'sent' } })
        }
        own.clock.advance(2 * HOUR)
        await own.other.removeDispatches({ acceptedForMs: 0, limit: 100 })
        for (const table of ['dispatches', 'states', 'contents', 'jobs', 'listed', 'digests', 'members'])
          expect([table, (await run(`select * from sallyport_${table}`)).rows]).toEqual([table, []])
      })
    })

    it.each(RECORDS)('A delivery past its expiry ends although its text in $table is damaged', async (record) => {
      await damaged(record, () => 'x')
      own.clock.advance(100 * HOUR)
      const { deliveries, expired, unreadable = [] } = await claim(own.other)
      expect(deliveries).toEqual([])
      expect(ids([...expired, ...unreadable]).sort()).toEqual(['bad-a', 'bad-b', 'good-a'])
      expect((await run('select * from sallyport_jobs')).rows).toEqual([])
      expect(await own.other.listDispatches({ tenant: 'default', status: 'queued', limit: 9 })).toEqual({ items: [] })
    })

    it.each(['contents', 'digests'])('A fallback follows a delivery with a damaged text in %s', async (table) => {
      const first = table === 'digests' ? digested('bad-a') : delivery('bad-a')
      const deliveries = [first, delivery('bad-b', { channel: 'b', status: 'held' })]
      await own.other.accept(acceptance('bad', { route: 'first', deliveries }))
      await run(`update sallyport_${table} set body = 'x' where delivery_id = 'bad-a'`)
      own.clock.advance(1_000)
      const { unreadable = [] } = await claim(own.other)
      expect(unreadable).toMatchObject([
        { deliveryId: 'bad-a', channel: 'a', ...LOST },
        { deliveryId: 'bad-b', status: 'queued' },
      ])
      expect(ids((await claim(own.other, { b: 9 })).deliveries)).toEqual(['bad-b'])
    })

    it('What a worker sent is recorded although the state was damaged meanwhile', async () => {
      await own.other.accept(acceptance('bad'))
      const claimed = await claimOne(own.other)
      await run(`update sallyport_states set body = '[{"deliveryId":"bad-a","channel":"a","sta'`)
      const settled = await own.over(own.db).settle({ ...lease(claimed), to: 'sent', attempt: { outcome: 'sent' } })
      expect(settled).toMatchObject({ live: true })
      expect(await deliveriesOf(own.other, 'bad')).toMatchObject([{ status: 'sent', reason: 'record_unreadable' }])
      const sent = { tenant: 'default', status: 'sent', limit: 9 } as const
      expect((await own.other.listDispatches(sent)).items).toHaveLength(1)
    })

    it('A stored answer that cannot be read is refused, and the other events of its batch are accepted', async () => {
      await own.other.accept(keyed('bad', 'bad'))
      await run(`update sallyport_idempotency_keys set answer = '{' where name = 'bad'`)
      const outcomes = await Promise.allSettled(['1', 'bad', '2'].map((id) => own.over(own.db).accept(keyed(id, id))))
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(outcomes[1]).toMatchObject({ reason: { code: 'record_unreadable' } })
      await expect(own.other.recall('default', 'bad')).rejects.toMatchObject({ code: 'record_unreadable' })
      const erasure = { tenant: 'default', recipient: 'jane@example.com', dispatchIds: ['1'] }
      expect(await own.other.redactAnswers(erasure)).toBe(2)
    })

    it('A limit that cannot be read counts from now on', async () => {
      const limited = (id: string) =>
        acceptance(id, { deliveries: [delivery(`${id}-a`, { limits: [{ key: 'k', max: 1, windowMs: HOUR }] })] })
      await own.other.accept(limited('1'))
      await run(`update sallyport_counters set times = 'x'`)
      for (const id of ['2', '3']) await own.other.accept(limited(id))
      expect(await deliveriesOf(own.other, '2')).toMatchObject([{ status: 'queued' }])
      expect(await deliveriesOf(own.other, '3')).toMatchObject([{ status: 'skipped', reason: 'throttled' }])
    })
  })

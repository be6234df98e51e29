import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Dispatch } from '../../../src/model/dispatch.ts'
import { storeOf } from '../../../src/storage/engine/engine-store.ts'
import { databaseKinds } from '../databases.ts'
import { afterEveryRead, afterRead, beforeRead } from '../engine/records-between.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, delivery, digested } from '../storing.ts'

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`reads of ${kind.name} during writes`, () => {
    const own = storeEach(kind.open)
    const statuses = ({ deliveries }: Dispatch): readonly string[] => deliveries.map(({ status }) => status)

    it('A read shows a digest either before or after a dispatch leaves it', async () => {
      for (const id of ['A', 'B']) await own.other.accept(acceptance(id, { deliveries: [digested(`${id}-a`)] }))
      const found = storeOf(afterRead(own.records(), 'digests', () => own.other.cancel('default', 'A')))
      expect(statuses((await found.findDispatch('default', 'A')) as Dispatch)).toEqual(['cancelled'])
      const listed = storeOf(afterRead(own.records(), 'digests', () => own.other.cancel('default', 'B')))
      const { items } = await listed.listDispatches({ tenant: 'default', limit: 9, first: 'oldest' })
      expect(items.map(statuses)).toEqual([['cancelled'], ['cancelled']])
      expect(items).toEqual((await own.other.listDispatches({ tenant: 'default', limit: 9, first: 'oldest' })).items)
    })

    it('A read shows all of a decision about a dispatch, or none of it', async () => {
      const deliveries = [delivery('A-a'), digested('A-b')]
      await own.other.accept(acceptance('A', { deliveries }))
      const store = storeOf(afterRead(own.records(), 'digests', () => own.other.cancel('default', 'A')))
      expect(statuses((await store.findDispatch('default', 'A')) as Dispatch)).toEqual(['cancelled', 'cancelled'])
    })

    it('A change sees its digest although the first dispatch leaves it meanwhile', async () => {
      for (const id of ['A', 'B']) await own.other.accept(acceptance(id, { deliveries: [digested(`${id}-a`)] }))
      const store = storeOf(afterRead(own.records(), 'digests', () => own.other.cancel('default', 'A')))
      expect((await store.cancel('default', 'B'))?.changed).toMatchObject([{ deliveryId: 'A-a', status: 'cancelled' }])
      expect(statuses((await own.other.findDispatch('default', 'B')) as Dispatch)).toEqual(['cancelled'])
      const { items } = await own.other.listDispatches({ tenant: 'default', limit: 9, status: 'cancelled' })
      expect(items.map(({ dispatchId }) => dispatchId)).toEqual(['B', 'A'])
    })

    it('An event joins its digest although the first dispatch leaves it meanwhile', async () => {
      for (const id of ['A', 'B']) await own.other.accept(acceptance(id, { deliveries: [digested(`${id}-a`)] }))
      const store = storeOf(afterRead(own.records(), 'digests', () => own.other.cancel('default', 'A')))
      const accepted = await store.accept(acceptance('C', { deliveries: [digested('C-a')] }))
      expect(accepted).toMatchObject({ answer: { deliveries: [{ deliveryId: 'A-a' }] } })
    })

    it('A delivery whose cancellation was requested while it was read for its settlement is not queued again', async () => {
      const limits = [{ key: 'l', max: 9, windowMs: 60_000 }]
      const deliveries = [delivery('A-a'), delivery('A-b', { channel: 'b', status: 'held', limits })]
      await own.other.accept(acceptance('A', { route: 'first', deliveries }))
      const store = storeOf(beforeRead(own.records(), 'jobs', () => own.other.cancel('default', 'A')))
      const claims = await store.claim({ leaseMs: 60_000, limits: { a: 9 }, busy: [] })
      const settled = claims.deliveries.map(({ deliveryId, fence }) =>
        store.settle({ deliveryId, fence, to: 'queued', delayMs: 1_000, waitsFor: 'receiver_paused' }),
      )
      expect(await Promise.all(settled)).toEqual([{ live: true, others: [], cancelled: true }])
      expect(statuses((await own.other.findDispatch('default', 'A')) as Dispatch)).toEqual(['cancelled', 'cancelled'])
    })

    it('A delivery whose cancellation was requested while it was claimed is not queued again', async () => {
      const store = own.over(own.db)
      await own.other.accept(acceptance('A', { deliveries: [delivery('A-a')] }))
      const { deliveries } = await store.claim({ leaseMs: 60_000, limits: { a: 9 }, busy: [] })
      await own.other.cancel('default', 'A')
      // As if the claim had read the state of before the cancellation, and leased the job of after it.
      await own.db.executeQuery(CompiledQuery.raw('update sallyport_jobs set version = version - 1'))
      const settled = deliveries.map(({ deliveryId, fence }) =>
        store.settle({ deliveryId, fence, to: 'queued', delayMs: 1_000, waitsFor: 'receiver_paused' }),
      )
      expect(await Promise.all(settled)).toEqual([{ live: true, others: [], cancelled: true }])
      expect(statuses((await own.other.findDispatch('default', 'A')) as Dispatch)).toEqual(['cancelled'])
    })

    it('A dispatch that is removed while it is read to be planned again is not there', async () => {
      const failed = { deliveryId: 'A-a', channel: 'a', status: 'failed', reason: 'template_error' } as const
      await own.other.accept(acceptance('A', { deliveries: [failed], source: { eventData: {} } }))
      own.clock.advance(1)
      const removed = { acceptedForMs: 0, limit: 9 }
      const store = storeOf(beforeRead(own.records(), 'plan_sources', () => own.other.removeDispatches(removed)))
      expect(await store.replan('default', 'A', 1, [delivery('A-a')], { expiresInMs: 1_000 })).toBeUndefined()
    })

    it('A copy of the data is that of before an erasure or after it', async () => {
      const source = { eventData: { name: 'Jane' } }
      const failed = { deliveryId: 'A-b', channel: 'b', status: 'failed', reason: 'template_error' } as const
      await own.other.accept(acceptance('A', { deliveries: [failed], source }))
      const store = storeOf(beforeRead(own.records(), 'plan_sources', () => own.other.eraseDispatch('default', 'A')))
      expect(await store.findDispatchData('default', 'A')).toMatchObject({ dispatch: { recipient: 'erased' } })
    })

    it('A read ends despite constant writes', async () => {
      const joining = (id: string) => acceptance(id, { deliveries: [digested(`${id}-a`, { max: 1_000 })] })
      await own.other.accept(joining('A'))
      let joined = 0
      const store = storeOf(
        afterEveryRead(own.records(), 'digests', () => own.other.accept(joining(`more-${joined++}`))),
      )
      expect(statuses((await store.findDispatch('default', 'A')) as Dispatch)).toEqual(['queued'])
      expect(joined).toBeGreaterThan(2)
    })
  })

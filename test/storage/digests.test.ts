import { describe, expect, it } from 'vitest'
import type { NewDelivery, NewDigest, NewDispatch } from '../../src/ports/dispatch-store.ts'
import { acceptance, claim, claimOne, deliveriesOf, digested, lease, storeOn } from './storing.ts'

function digesting() {
  const { clock, store } = storeOn()
  const post = (
    id: string,
    digest: Partial<NewDigest> = {},
    rest: Partial<NewDelivery> = {},
    dispatch: Partial<NewDispatch> = {},
  ) => store.accept(acceptance(id, { deliveries: [digested(`${id}-a`, digest, rest)], ...dispatch }))
  const idsOf = async (...dispatchIds: readonly string[]) =>
    (await Promise.all(dispatchIds.map((id) => deliveriesOf(store, id)))).flat().map(({ deliveryId }) => deliveryId)
  return { clock, store, post, idsOf }
}

describe('digests', () => {
  it('A digest takes events until exactly its due time', async () => {
    const { clock, post, idsOf } = digesting()
    await post('1')
    clock.advance(999)
    await post('2')
    clock.advance(1)
    await post('3')
    expect(await idsOf('1', '2', '3')).toEqual(['1-a', '1-a', '3-a'])
  })

  it('A digest expires with its last event, to the millisecond', async () => {
    const { clock, store, post } = digesting()
    await store.accept(acceptance('1', { deliveries: [digested('1-a')] }, { expiresInMs: 500 }))
    clock.advance(1_000)
    await store.settle({ ...lease(await claimOne(store)), to: 'queued', delayMs: 400 })
    await store.accept(acceptance('2', { deliveries: [digested('2-a')] }, { expiresInMs: 500 }))
    clock.advance(600)
    expect(await claimOne(store)).toMatchObject({ deliveryId: '1-a', waitedMs: 1_600, expiresInMs: 900 })
    await post('3')
    await store.accept(acceptance('4', { deliveries: [digested('4-a')] }, { expiresInMs: 1 }))
    clock.advance(1_001)
    expect((await claim(store)).expired).toEqual([])
  })
})

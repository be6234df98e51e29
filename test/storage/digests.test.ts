import { describe, expect, it } from 'vitest'
import type { NewDelivery, NewDigest, NewDispatch } from '../../src/ports/dispatch-store.ts'
import { openDigests } from '../../src/storage/memory/dispatch-indexes.ts'
import { dispatchRow } from '../../src/storage/rules/dispatch-rows.ts'
import { fakeClock } from '../support/fake-clock.ts'
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

describe('openDigests', () => {
  const opened = (deliveryId: string) => {
    const [row] = dispatchRow(
      acceptance('1', { deliveries: [digested(deliveryId, { max: 2 })] }).dispatch,
      1,
      0,
    ).deliveries
    if (!row) throw new Error('there is no row')
    return row
  }

  it('openDigests holds exactly the digests that take events', () => {
    const digests = openDigests(fakeClock())
    const row = opened('x')
    for (const [change, size] of [
      [{}, 1],
      [{ status: 'sending' }, 0],
      [{ status: 'queued' }, 1],
      [{ content: { text: 'x' } }, 0],
      [{ content: undefined }, 1],
      [{ status: 'cancelled' }, 0],
    ] as const) {
      Object.assign(row, change)
      digests.update(row)
      digests.update(row)
      expect([change, digests.size]).toEqual([change, size])
    }
  })

  it('openDigests removes a digest that is found due', () => {
    const clock = fakeClock()
    const row = opened('x')
    row.wakeAt = clock.now() + 1
    const digests = openDigests(clock)
    digests.update(row)
    expect(digests.find(opened('y'))).toBe(row)
    clock.advance(1)
    expect(digests.find(opened('y'))).toBeUndefined()
    expect(digests.size).toBe(0)
  })
})

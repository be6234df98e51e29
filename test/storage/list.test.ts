import { describe, expect, it } from 'vitest'
import type { DispatchQuery } from '../../src/ports/dispatch-query.ts'
import { acceptance, claimOne, delivery, digested, lease, storeOn } from './storing.ts'

async function listing() {
  const { store, clock } = storeOn()
  const list = async (query: Partial<DispatchQuery> = {}) => {
    const { items, nextCursor } = await store.listDispatches({ tenant: 'default', limit: 99, ...query })
    return { ids: items.map(({ dispatchId }) => dispatchId), nextCursor }
  }
  const ids = async (query: Partial<DispatchQuery> = {}) => (await list(query)).ids
  return { store, clock, list, ids }
}

describe('listing', () => {
  it('gives dispatches whole, newest first, of one tenant', async () => {
    const { store, ids } = await listing()
    await store.accept(acceptance('1'))
    await store.accept(acceptance('2', { tenant: 'other', sessionId: 's1' }))
    await store.accept(acceptance('3'))
    expect(await ids()).toEqual(['3', '1'])
    expect(await ids({ sessionId: 's1' })).toEqual([])
    expect(await ids({ tenant: 'other', sessionId: 's1' })).toEqual(['2'])
    expect(await ids({ tenant: 'nobody' })).toEqual([])
    const { items } = await store.listDispatches({ tenant: 'default', limit: 1 })
    expect(items).toEqual([await store.findDispatch('default', '3')])
  })

  it('gives the oldest first when it is asked to, page by page, up to those that are added meanwhile', async () => {
    const { store, ids, list } = await listing()
    for (const id of ['1', '2', '3', '4']) await store.accept(acceptance(id, { sessionId: id === '2' ? 's2' : 's1' }))
    expect(await ids({ first: 'oldest' })).toEqual(['1', '2', '3', '4'])
    expect(await ids({ first: 'newest' })).toEqual(['4', '3', '2', '1'])
    const query = { first: 'oldest', sessionId: 's1', limit: 2 } as const
    const { ids: page, nextCursor = '' } = await list(query)
    expect(page).toEqual(['1', '3'])
    await store.accept(acceptance('5', { sessionId: 's1' }))
    expect(await list({ ...query, cursor: nextCursor })).toEqual({ ids: ['4', '5'], nextCursor: undefined })
  })

  it('gives those that fit all that is said', async () => {
    const { store, clock, ids } = await listing()
    const begin = clock.now()
    const given = [
      { eventType: 'e', recipient: 'r', sessionId: 's' },
      { eventType: 'f', recipient: 'r', sessionId: 's' },
      { eventType: 'e', recipient: 'q', sessionId: 's' },
      { eventType: 'e', recipient: 'r' },
    ]
    for (const [at, rest] of given.entries()) {
      clock.advance(10)
      await store.accept(acceptance(`${at + 1}`, rest))
    }
    expect(await ids({ eventType: 'e' })).toEqual(['4', '3', '1'])
    expect(await ids({ recipient: 'r' })).toEqual(['4', '2', '1'])
    expect(await ids({ sessionId: 's' })).toEqual(['3', '2', '1'])
    expect(await ids({ since: begin + 20 })).toEqual(['4', '3', '2'])
    expect(await ids({ until: begin + 20 })).toEqual(['1'])
    expect(await ids({ since: begin + 20, until: begin + 40 })).toEqual(['3', '2'])
    expect(await ids({ eventType: 'e', recipient: 'r', sessionId: 's' })).toEqual(['1'])
    expect(await ids({ eventType: 'none' })).toEqual([])
  })

  it('gives those of a status, by the route', async () => {
    const { store, ids } = await listing()
    const fail = async () => {
      await store.settle({ ...lease(await claimOne(store)), to: 'failed', reason: 'channel_error' })
    }
    const pair = (id: string, status: 'queued' | 'held') => [
      delivery(`${id}-a`),
      delivery(`${id}-b`, { channel: 'b', status }),
    ]
    await store.accept(acceptance('all', { deliveries: pair('all', 'queued') }))
    await fail()
    await store.accept(acceptance('first', { route: 'first', deliveries: pair('first', 'held') }))
    await fail()
    await store.accept(acceptance('cancelled'))
    await store.cancel('default', 'cancelled')
    await store.accept(acceptance('skipped', { deliveries: [delivery('skipped', { status: 'skipped' })] }))
    await store.accept(acceptance('failed', { deliveries: [delivery('failed', { status: 'failed' })] }))
    await store.accept(acceptance('sent'))
    await store.settle({ ...lease(await claimOne(store)), to: 'sent' })
    expect(await ids({ status: 'partial' })).toEqual(['all'])
    expect(await ids({ status: 'queued' })).toEqual(['first'])
    for (const status of ['cancelled', 'skipped', 'failed', 'sent'] as const)
      expect(await ids({ status })).toEqual([status])
  })

  it('knows a dispatch by its own part of a digest', async () => {
    const { store, ids } = await listing()
    for (const id of ['1', '2']) await store.accept(acceptance(id, { deliveries: [digested(id)] }))
    await store.cancel('default', '1')
    expect(await ids({ status: 'cancelled' })).toEqual(['1'])
    expect(await ids({ status: 'queued' })).toEqual(['2'])
  })

  it.each([{}, { eventType: 'e' }])(
    'gives full pages of %j that stay right while dispatches are added',
    async (query) => {
      const { store, list } = await listing()
      const add = async (from: number, to: number) => {
        for (let at = from; at < to; at++) {
          await store.accept(acceptance(`${at}`))
          await store.accept(
            acceptance(`other-${at}`, { eventType: 'other', tenant: query.eventType ? 'default' : 'other' }),
          )
        }
      }
      await add(0, 10)
      const pages: string[][] = []
      let cursor: string | undefined
      for (let page = 0; ; page++) {
        const found = await list({ ...query, limit: 3, ...(cursor !== undefined && { cursor }) })
        pages.push(found.ids)
        await add(10 + page * 5, 15 + page * 5)
        cursor = found.nextCursor
        if (cursor === undefined) break
      }
      expect(pages).toEqual([['9', '8', '7'], ['6', '5', '4'], ['3', '2', '1'], ['0']])
    },
  )

  it('gives a full page of any one filter, however many others were accepted since', async () => {
    const { store, clock, list } = await listing()
    const deliveries = [delivery('x', { status: 'failed' })]
    await store.accept(acceptance('wanted', { deliveries, recipient: 'r', sessionId: 's' }))
    clock.advance(5)
    const later = clock.now()
    for (let at = 0; at < 12_000; at++) await store.accept(acceptance(`${at}`, { eventType: 'other', deliveries: [] }))
    const found = { ids: ['wanted'], nextCursor: undefined }
    for (const filter of [{ eventType: 'e' }, { status: 'failed' }, { recipient: 'r' }, { sessionId: 's' }] as const)
      expect(await list({ ...filter, limit: 5 })).toEqual(found)
    expect(await list({ until: later })).toEqual(found)
    expect((await list({ since: later, first: 'oldest', limit: 5 })).ids).toEqual(['0', '1', '2', '3', '4'])
  })

  it('ends a page of a combination early when very little fits, and goes on from there', async () => {
    const { store, list } = await listing()
    await store.accept(acceptance('wanted', { deliveries: [] }))
    for (let at = 0; at < 12_000; at++) await store.accept(acceptance(`${at}`, { eventType: 'other', deliveries: [] }))
    const query = { limit: 5, eventType: 'e', status: 'skipped' } as const
    const { ids, nextCursor = '' } = await list(query)
    expect(ids).toEqual([])
    expect(await list({ ...query, cursor: nextCursor })).toEqual({ ids: ['wanted'], nextCursor: undefined })
  })

  it('has no next page after the last, even a full one, or one before what does not fit', async () => {
    const { store, list } = await listing()
    await store.accept(acceptance('0', { eventType: 'other' }))
    for (const id of ['1', '2']) await store.accept(acceptance(id))
    expect(await list({ limit: 3 })).toEqual({ ids: ['2', '1', '0'], nextCursor: undefined })
    expect(await list({ limit: 2, eventType: 'e' })).toEqual({ ids: ['2', '1'], nextCursor: undefined })
    expect((await list({ limit: 1 })).nextCursor).toEqual(expect.any(String))
  })

  it.each(['', 'x', '-1', '1.5', '999999999999999', '__proto__'])(
    'takes the cursor %j without harm',
    async (cursor) => {
      const { store, ids } = await listing()
      await store.accept(acceptance('1'))
      expect((await ids({ cursor })).length).toBeLessThanOrEqual(1)
    },
  )
})

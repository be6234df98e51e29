import { describe, expect, it } from 'vitest'
import type { DispatchQuery } from '../../src/ports/dispatch-query.ts'
import { acceptance, delivery, storeOn } from './storing.ts'

async function listing() {
  const { store, clock } = storeOn()
  const list = async (query: Partial<DispatchQuery> = {}) => {
    const { items, nextCursor } = await store.listDispatches({ tenant: 'default', limit: 99, ...query })
    return { ids: items.map(({ dispatchId }) => dispatchId), nextCursor }
  }
  const ids = async (query: Partial<DispatchQuery> = {}) => (await list(query)).ids
  return { store, clock, list, ids }
}

describe('listDispatches', () => {
  it('A list with the oldest first continues with dispatches added between its pages', async () => {
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

  it.each([{}, { eventType: 'e' }])(
    'Pages of %j are full and stay complete while dispatches are added',
    async (query) => {
      const { store, clock, list } = await listing()
      const add = async (from: number, to: number) => {
        for (let at = from; at < to; at++) {
          clock.advance(1)
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

  it('A page with one filter is full behind 12,000 newer dispatches', async () => {
    const { store, clock, list } = await listing()
    const deliveries = [delivery('x', { status: 'failed' })]
    await store.accept(acceptance('wanted', { deliveries, recipient: 'r', sessionId: 's' }))
    clock.advance(5)
    const later = clock.now()
    for (let at = 0; at < 12_000; at++) {
      await store.accept(acceptance(`${at}`, { eventType: 'other', deliveries: [] }))
      clock.advance(1)
    }
    const found = { ids: ['wanted'], nextCursor: undefined }
    for (const filter of [{ eventType: 'e' }, { status: 'failed' }, { recipient: 'r' }, { sessionId: 's' }] as const)
      expect(await list({ ...filter, limit: 5 })).toEqual(found)
    expect(await list({ until: later })).toEqual(found)
    expect((await list({ since: later, first: 'oldest', limit: 5 })).ids).toEqual(['0', '1', '2', '3', '4'])
  })

  it('A page with several filters ends early when few rows match, and its cursor continues', async () => {
    const { store, clock, list } = await listing()
    await store.accept(acceptance('wanted', { deliveries: [] }))
    clock.advance(1)
    for (let at = 0; at < 3_000; at++) await store.accept(acceptance(`${at}`, { eventType: 'other', deliveries: [] }))
    const query = { limit: 5, eventType: 'e', status: 'skipped' } as const
    const { ids, nextCursor = '' } = await list(query)
    expect(ids).toEqual([])
    expect(await list({ ...query, cursor: nextCursor })).toEqual({ ids: ['wanted'], nextCursor: undefined })
  })

  it('A list has no next page after the last dispatch that matches', async () => {
    const { store, list } = await listing()
    await store.accept(acceptance('0', { eventType: 'other' }))
    for (const id of ['1', '2']) await store.accept(acceptance(id))
    expect(await list({ limit: 3 })).toEqual({ ids: ['2', '1', '0'], nextCursor: undefined })
    expect(await list({ limit: 2, eventType: 'e' })).toEqual({ ids: ['2', '1'], nextCursor: undefined })
    expect((await list({ limit: 1 })).nextCursor).toEqual(expect.any(String))
  })

  it.each(['', 'x', '-1', '1.5', '999999999999999', '__proto__'])(
    'listDispatches accepts the invalid cursor %j',
    async (cursor) => {
      const { store, ids } = await listing()
      await store.accept(acceptance('1'))
      expect((await ids({ cursor })).length).toBeLessThanOrEqual(1)
    },
  )
})

import { describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { answerCache } from '../../src/console/answer-cache.ts'
import { createConsole } from '../../src/console/index.ts'
import type { SallyportStore } from '../../src/ports/sallyport-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { gate } from '../core/dispatch/dispatching.ts'
import { jsonOf } from '../openapi/posting.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { filledSallyport } from './filled.ts'

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin', 'x-sallyport-console': '1', 'content-type': 'application/json' }

/** A console over a store that counts its reads of lists. @param change Replaces methods of the store. */
async function opened(change: (store: SallyportStore) => Partial<SallyportStore> = () => ({})) {
  const clock = fakeClock(Date.UTC(2026, 10, 25, 8))
  const store = memoryStore({ clock })
  let reads = 0
  const counting = {
    ...store,
    ...change(store),
    listDispatches(query: Parameters<typeof store.listDispatches>[0]) {
      reads++
      return store.listDispatches(query)
    },
  }
  const sallyport = await filledSallyport(counting, { clock })
  const access = ({ headers }: Request) =>
    ({ access: 'operate', tenant: headers.get('x-tenant') ?? 'default' }) as const
  const answer = toFetch(createConsole(sallyport, { access }))
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    answer(new Request(`http://127.0.0.1/api/${path}`, { headers }))
  const post = (path: string): Promise<Response> =>
    answer(new Request(`http://127.0.0.1/api/${path}`, { method: 'POST', headers: SAME_ORIGIN, body: '{}' }))
  /** The number of reads of lists during `act`. */
  const readsOf = async (act: () => Promise<unknown>): Promise<number> => {
    const before = reads
    await act()
    return reads - before
  }
  return { clock, sallyport, get, post, readsOf }
}

describe('ten open consoles', () => {
  it('Equal reads within a second read the store once, and later ones again', async () => {
    const { clock, get, readsOf } = await opened()
    const ask = () => Promise.all(Array.from({ length: 10 }, () => get('outbound/dispatches?limit=5')))
    expect(await readsOf(ask)).toBe(1)
    clock.advance(999)
    expect(await readsOf(ask)).toBe(0)
    clock.advance(1)
    expect(await readsOf(ask)).toBe(1)
  })

  it('All get the same answer and tag, and a known one is 304', async () => {
    const { get } = await opened()
    const [one, other] = await Promise.all([get('outbound/dispatches'), get('outbound/dispatches')])
    const tag = one?.headers.get('etag') ?? ''
    expect([await jsonOf(other as Response), other?.headers.get('etag')]).toEqual([await jsonOf(one as Response), tag])
    expect((await get('outbound/dispatches', { 'if-none-match': tag })).status).toBe(304)
  })

  it('Other queries and other tenants have answers of their own', async () => {
    const { get, readsOf } = await opened()
    const ask = () =>
      Promise.all([
        get('outbound/dispatches'),
        get('outbound/dispatches?limit=1'),
        get('outbound/dispatches', { 'x-tenant': 'other' }),
      ])
    expect(await readsOf(ask)).toBe(3)
    const [all, one, others] = await Promise.all((await ask()).map(jsonOf))
    expect([one?.items, others?.items]).toMatchObject([{ length: 1 }, { length: 0 }])
    expect(all?.items).not.toHaveLength(1)
  })

  it('After a change in the console, nobody gets an answer from before it', async () => {
    const { sallyport, get, post } = await opened()
    const { items } = await sallyport.dispatches.list({ recipient: 'due@example.com' })
    const path = `outbound/dispatches/${items[0]?.dispatchId}`
    expect(await jsonOf(await get(path))).toMatchObject({ status: 'queued' })
    expect((await post(`${path}/cancel`)).status).toBe(200)
    expect(await jsonOf(await get(path))).toMatchObject({ status: 'cancelled' })
  })
})

describe('a read during a change', () => {
  it('A read while a change is under way answers nobody after the change', async () => {
    const [begun, held] = [gate<void>(), gate<void>()]
    const { sallyport, get, post } = await opened((store) => ({
      async cancel(...of) {
        begun.open()
        await held.promise
        return store.cancel(...of)
      },
    }))
    const { items } = await sallyport.dispatches.list({ recipient: 'due@example.com' })
    const path = `outbound/dispatches/${items[0]?.dispatchId}`
    const posted = post(`${path}/cancel`)
    await begun.promise
    expect(await jsonOf(await get(path))).toMatchObject({ status: 'queued' })
    held.open()
    expect((await posted).status).toBe(200)
    expect(await jsonOf(await get(path))).toMatchObject({ status: 'cancelled' })
  })
})

describe('answerCache', () => {
  const answerOf = (text: string) => async () => ({ status: 200, headers: {}, text })

  it('A clock that is set back keeps no answer for long', async () => {
    let now = 10_000
    const cache = answerCache({ now: () => now })
    await cache.get('a', answerOf('old'))
    now = 5_000
    expect(await cache.get('a', answerOf('new'))).toMatchObject({ text: 'new' })
  })

  it('Of many keys only fifty are kept, and all are answered', async () => {
    const cache = answerCache({ now: () => 0 })
    for (let at = 0; at < 60; at++)
      expect(await cache.get(`${at}`, answerOf(`first ${at}`))).toMatchObject({ text: `first ${at}` })
    expect(await cache.get('49', answerOf('again'))).toMatchObject({ text: 'first 49' })
    expect(await cache.get('50', answerOf('again'))).toMatchObject({ text: 'again' })
  })

  it('A very long answer is shared only until it is complete', async () => {
    const cache = answerCache({ now: () => 0 })
    const long = answerOf('x'.repeat(250_001))
    const both = await Promise.all([cache.get('a', long), cache.get('a', answerOf('other'))])
    expect(both.map(({ text }) => text.length)).toEqual([250_001, 250_001])
    expect(await cache.get('a', answerOf('again'))).toMatchObject({ text: 'again' })
  })

  it('A read that fails rejects for all who asked', async () => {
    const cache = answerCache({ now: () => 0 })
    const both = [1, 2].map(() => cache.get('a', () => Promise.reject(new Error('it is down'))))
    expect(await Promise.allSettled(both)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  })

  it('An answer under way when all are forgotten is not shared after', async () => {
    const cache = answerCache({ now: () => 0 })
    const slow = cache.get('a', answerOf('before'))
    cache.clear()
    expect(await cache.get('a', answerOf('after'))).toMatchObject({ text: 'after' })
    expect(await slow).toMatchObject({ text: 'before' })
  })
})

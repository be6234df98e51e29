import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { composed } from '../compose/composed.ts'

const events = defineEvents({ one: { channels: { a: {} } } })
const ONE = { recipient: 'jane@example.com', eventType: 'one' } as const

describe('the options of a call that accepts an event', () => {
  it.each<[unknown, string]>([
    [{ stor: {} }, 'stor is not an option; near: store.'],
    [{ idempotencykey: 'k' }, 'idempotencykey is not an option; near: idempotencyKey.'],
    [{ store: undefined }, 'store is undefined; pass what store.within(transaction) returned, or leave it out.'],
    [{ store: { executeQuery() {} } }, 'store has no accept, recall; pass what store.within(transaction) returned.'],
    [{ idempotencyKey: 7 }, 'idempotencyKey is a number; must be a string.'],
    [{ tenant: '' }, 'tenant is an empty string; must be 1-200 visible ASCII characters.'],
    [
      { tenant: '', delay: 5 },
      'delay is not an option; near: delayMs; tenant is an empty string; must be 1-200 visible ASCII characters.',
    ],
    ['k', 'the second argument is a string; must be an object of options.'],
    [null, 'the second argument is null; must be an object of options.'],
  ])('sallyport.dispatch accepts nothing with the options %j', async (options, detail) => {
    const { sallyport } = composed(events)
    expect(await sallyport.dispatch(ONE, options as object)).toMatchObject({
      ok: false,
      status: 422,
      body: { code: 'validation_failed', detail },
    })
    expect((await sallyport.dispatches.list()).items).toEqual([])
  })
})

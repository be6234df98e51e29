import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import {
  type DispatchAnswer,
  defineEvents,
  type EventCatalog,
  type HandlerResult,
  type Sallyport,
} from '../../src/index.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Recipient } from '../../src/model/recipient.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { testAuth } from '../support/deps.ts'

const shipped = v.object({
  orderId: v.string(),
  at: v.pipe(
    v.string(),
    v.transform((text) => new Date(text)),
  ),
  note: v.optional(v.string(), ''),
})

const events = defineEvents({
  valibot: {
    data: shipped,
    when: ({ data, recipient }) => {
      expectTypeOf(data).toEqualTypeOf<{ orderId: string; at: Date; note: string }>()
      expectTypeOf(recipient).toEqualTypeOf<Recipient>()
      return true
    },
    channels: {
      email: {
        when: ({ data }) => data.at.getTime() > 0,
        subject: ({ data }) => {
          expectTypeOf(data.at).toEqualTypeOf<Date>()
          return data.orderId
        },
        // @ts-expect-error: the schema has no such property
        text: ({ data }) => data.orderNumber,
        html: async ({ data }) => {
          expectTypeOf(data.at).toEqualTypeOf<Date>()
          return data.orderId
        },
        locales: { de: { html: async ({ data }) => ({ id: data.orderId }) } },
      },
    },
  },
  zod: {
    data: z.object({ total: z.coerce.number<string>(), tags: z.array(z.string()) }),
    channels: {
      email: {
        subject: ({ data }) => {
          expectTypeOf(data).toEqualTypeOf<{ total: number; tags: string[] }>()
          return data.tags
        },
        // @ts-expect-error: the schema has no such property
        text: ({ data }) => data.tag,
      },
    },
  },
  arktype: {
    data: type({ name: 'string', 'age?': 'number' }),
    channels: {
      email: {
        subject: ({ data }) => {
          expectTypeOf(data.name).toEqualTypeOf<string>()
          expectTypeOf(data.age).toEqualTypeOf<number | undefined>()
          return data.name
        },
        // @ts-expect-error: the schema has no such property
        text: ({ data }) => data.surname,
      },
    },
  },
  plain: {
    channels: {
      email: {
        subject: ({ data }) => {
          expectTypeOf(data).toEqualTypeOf<JsonObject>()
          return data.anything ?? null
        },
      },
    },
  },
})

defineEvents({
  valibot: {
    data: shipped,
    digest: {
      windowMs: 60_000,
      key: ({ data, events, recipient }) => {
        expectTypeOf(data).toEqualTypeOf<{ orderId: string; at: Date; note: string }>()
        expectTypeOf(events).toEqualTypeOf<readonly { orderId: string; at: Date; note: string }[]>()
        expectTypeOf(recipient).toEqualTypeOf<Recipient>()
        return data.orderId
      },
    },
    when: ({ events }) => events.every(({ at }) => at.getTime() > 0),
    channels: {
      email: {
        locales: {
          de: {
            subject: ({ data, events }) => {
              expectTypeOf(data.at).toEqualTypeOf<Date>()
              expectTypeOf(events).toEqualTypeOf<readonly { orderId: string; at: Date; note: string }[]>()
              return `${events.length} Bestellungen`
            },
            text: 'Bestellung',
            // @ts-expect-error: the schema has no such property
            html: ({ data }) => data.orderNumber,
          },
        },
        subject: ({ events }) => events.map(({ orderId }) => orderId).join(),
        text: 'Order',
        html: 'Order',
      },
    },
  },
  plain: {
    digest: {
      windowMs: 60_000,
      key: ({ data }) => {
        expectTypeOf(data).toEqualTypeOf<JsonObject>()
        return String(data.kind)
      },
    },
    critical: true,
    delayMs: 0,
    overrides: ['email'],
    channels: { email: { locales: { 'de-AT': { text: ({ events }) => events.length } }, text: 'x' } },
  },
})

test('The catalogue carries the input type of each event schema', () => {
  type Events = NonNullable<(typeof events)['~events']>
  expectTypeOf<keyof Events>().toEqualTypeOf<'valibot' | 'zod' | 'arktype' | 'plain'>()
  expectTypeOf<Events['valibot']>().toEqualTypeOf<{ orderId: string; at: string; note?: string | undefined }>()
  expectTypeOf<Events['zod']>().toEqualTypeOf<{ total: string; tags: string[] }>()
  expectTypeOf<Events['arktype']>().toEqualTypeOf<{ name: string; age?: number }>()
  expectTypeOf<Events['plain']>().toEqualTypeOf<JsonObject>()
  expectTypeOf(events).toExtend<EventCatalog>()
})

test('An event definition takes only known fields of the right types', () => {
  defineEvents({
    one: {
      // @ts-expect-error: there is no such route
      route: 'any',
      channels: { email: {} },
    },
  })
  // @ts-expect-error: an event needs channels
  defineEvents({ one: {} })
  defineEvents({
    one: {
      // @ts-expect-error: a condition returns a boolean, not a promise
      when: async () => true,
      channels: { email: {} },
    },
  })
  defineEvents({
    one: {
      channels: {
        email: {
          // @ts-expect-error: a field returns a JSON value
          text: () => new Date(),
        },
      },
    },
  })
  defineEvents({
    one: {
      channels: {
        email: {
          // @ts-expect-error: a promise of a field gives a JSON value
          text: async () => new Date(),
        },
      },
    },
  })
  defineEvents({
    one: {
      channels: {
        email: {
          // @ts-expect-error: a field is not a promise, but a function that may return one
          text: Promise.resolve('x'),
        },
      },
    },
  })
  defineEvents({
    one: {
      // @ts-expect-error: a key is a string, not a promise
      digest: { windowMs: 1, key: async () => 'x' },
      channels: { email: {} },
    },
  })
  defineEvents({
    one: {
      // @ts-expect-error: a key is a string
      digest: { windowMs: 1, key: ({ data }) => data.total },
      channels: { email: {} },
    },
  })
  defineEvents({
    one: {
      // @ts-expect-error: a digest has a window
      digest: { max: 5 },
      channels: { email: {} },
    },
  })
  defineEvents({
    one: {
      channels: {
        email: {
          text: 'x',
          // @ts-expect-error: a field in another language returns a JSON value too
          locales: { de: { text: () => new Date() } },
        },
      },
    },
  })
  defineEvents({
    one: {
      channels: {
        email: {
          text: 'x',
          // @ts-expect-error: a locale contains fields
          locales: { de: 'Hallo' },
        },
      },
    },
  })
})

const sallyport = createSallyport({ auth: testAuth, events, store: memoryStore(), channels: {} })

test('`sallyport.dispatch` takes the events of the catalogue with the data of each', () => {
  expectTypeOf(sallyport.dispatch).returns.resolves.toEqualTypeOf<HandlerResult<DispatchAnswer>>()
  const recipient = 'jane@example.com'
  const { dispatch }: Pick<typeof sallyport, 'dispatch'> = sallyport
  const calls = () => [
    dispatch({ eventType: 'valibot', recipient, eventData: { orderId: 'A-1', at: '2026-11-21' } }),
    dispatch(
      { eventType: 'zod', recipient, eventData: { total: '5', tags: [] } },
      { idempotencyKey: 'k', tenant: 't' },
    ),
    dispatch({ eventType: 'arktype', recipient, eventData: { name: 'Jane' }, channel: 'email', sessionId: 's1' }),
    dispatch({ eventType: 'plain', recipient, eventData: { anything: [1, null] } }),
    dispatch({ eventType: 'plain', recipient }),
    // @ts-expect-error: there is no such event
    dispatch({ eventType: 'nothing', recipient, eventData: {} }),
    // @ts-expect-error: the data is that of another event
    dispatch({ eventType: 'valibot', recipient, eventData: { name: 'Jane' } }),
    // @ts-expect-error: the schema takes a string and returns the Date
    dispatch({ eventType: 'valibot', recipient, eventData: { orderId: 'A-1', at: new Date() } }),
    // @ts-expect-error: an event with a schema needs its data
    dispatch({ eventType: 'valibot', recipient }),
    // @ts-expect-error: there is no recipient
    dispatch({ eventType: 'plain', eventData: {} }),
  ]
  expectTypeOf(calls).toBeFunction()
})

test('`ok` of a result separates success from refusal', () => {
  const read = (result: HandlerResult<DispatchAnswer>) => {
    if (result.ok) expectTypeOf(result.body.deliveries[0]?.status).toExtend<string | undefined>()
    else expectTypeOf(result.body.code).toExtend<string>()
    // @ts-expect-error: a refusal has no deliveries
    return result.body.deliveries
  }
  expectTypeOf(read).toBeFunction()
})

test('A Sallyport with some events extends the part of Sallyport that only reads', () => {
  expectTypeOf(sallyport).toExtend<Pick<Sallyport, 'endpoints' | 'worker' | 'dispatches' | 'runs' | 'sessions'>>()
})

test('A misspelt option is the only type error, and dispatch keeps its types', () => {
  const misspelt = defineEvents({
    // @ts-expect-error: it is called channels
    placed: { data: z.object({ id: z.string() }), chanels: { email: { text: 'x' } } },
    plain: { channels: {} },
  })
  const own = createSallyport({ auth: testAuth, events: misspelt, store: memoryStore(), channels: {} })
  // @ts-expect-error: it is called events
  const without = createSallyport({ auth: testAuth, evnts: events, store: memoryStore(), channels: {} })
  const recipient = 'jane@example.com'
  const calls = () => [
    own.dispatch({ eventType: 'placed', recipient, eventData: { id: 'A-1' } }),
    own.dispatch({ eventType: 'plain', recipient }),
    without.dispatch({ eventType: 'valibot', recipient, eventData: { orderId: 'A-1' } }),
  ]
  expectTypeOf(calls).toBeFunction()
})

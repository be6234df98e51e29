import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { StandardSchema } from '../../../src/core/dispatch/catalog/event-definition.ts'
import { testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, outcomes, places, post, refused, stored } from '../dispatch/dispatching.ts'

const CANARY = 'canary-7f3a'

/** The same schema in three libraries. */
const SCHEMAS: readonly (readonly [string, StandardSchema])[] = [
  [
    'valibot',
    v.object({
      orderId: v.string(),
      total: v.pipe(v.number(), v.minValue(0)),
      items: v.optional(v.array(v.object({ 'a/b': v.picklist(['red', 'blue']) }))),
      mail: v.optional(v.pipe(v.string(), v.email())),
    }),
  ],
  [
    'zod',
    z.object({
      orderId: z.string(),
      total: z.number().min(0),
      items: z.array(z.object({ 'a/b': z.enum(['red', 'blue']) })).optional(),
      mail: z.email().optional(),
    }),
  ],
  [
    'arktype',
    type({
      orderId: 'string',
      total: 'number >= 0',
      'items?': type({ 'a/b': "'red' | 'blue'" }).array(),
      'mail?': 'string.email',
    }) as unknown as StandardSchema,
  ],
]

function depsFor(data: StandardSchema) {
  const events = defineEvents({ 'order.shipped': { data, channels: { email: { text: () => 'x' } } } })
  return testDeps({ email: recordingChannel() }, { events })
}

const bodyWith = (eventData?: unknown) => ({
  eventType: 'order.shipped',
  recipient: 'jane@example.com',
  ...(eventData !== undefined && { eventData }),
})

describe.each(SCHEMAS)('a %s schema', (library, schema) => {
  it(`A ${library} schema accepts data that fit`, async () => {
    const data = { orderId: 'A-1', total: 1, items: [{ 'a/b': 'red' }], mail: 'a@b.example' }
    expect(await post(depsFor(schema), bodyWith(data))).toMatchObject({ status: 202 })
  })

  it(`A ${library} schema refuses missing members as required, with their pointers`, async () => {
    const deps = depsFor(schema)
    expect(await refused(deps, bodyWith({ total: 1, items: [{}] }))).toMatchObject({
      status: 422,
      code: 'validation_failed',
      errors: expect.arrayContaining([
        { pointer: '/eventData/orderId', code: 'required', detail: 'is required' },
        { pointer: '/eventData/items/0/a~1b', code: 'required', detail: 'is required' },
      ]),
    })
    expect(await stored(deps)).toEqual([])
  })

  it(`A ${library} schema checks {} when no data was sent`, async () => {
    expect(places(await refused(depsFor(schema), bodyWith()))).toEqual([
      ['/eventData/orderId', 'required'],
      ['/eventData/total', 'required'],
    ])
  })

  it(`A ${library} schema refuses all invalid values at once and quotes none`, async () => {
    const data = { orderId: [CANARY], total: CANARY, items: [{ 'a/b': 'red' }, { 'a/b': CANARY }], mail: CANARY }
    const problem = await refused(depsFor(schema), bodyWith(data))
    expect(places(problem).sort()).toEqual([
      ['/eventData/items/1/a~1b', 'invalid'],
      ['/eventData/mail', 'invalid'],
      ['/eventData/orderId', 'invalid'],
      ['/eventData/total', 'invalid'],
    ])
    for (const { detail } of problem.errors ?? []) expect(detail).toMatch(/^(expected .+|does not fit .+)$/)
    expect(problem.errors?.find(({ pointer }) => pointer === '/eventData/orderId')?.detail).toMatch(
      /^expected .*string/,
    )
    expect(JSON.stringify(problem)).not.toContain(CANARY)
  })

  it(`A ${library} schema refuses null as invalid, not as missing`, async () => {
    expect(places(await refused(depsFor(schema), bodyWith({ orderId: null, total: 1 })))).toEqual([
      ['/eventData/orderId', 'invalid'],
    ])
  })
})

describe('a schema', () => {
  it('An asynchronous valibot schema is awaited', async () => {
    const known = v.pipeAsync(
      v.string(),
      v.checkAsync(async (id) => id === 'A-1', 'there is no such order'),
    )
    const deps = depsFor(v.objectAsync({ orderId: known }))
    expect(await post(deps, bodyWith({ orderId: 'A-1' }))).toMatchObject({ status: 202 })
    expect(await refused(deps, bodyWith({ orderId: CANARY }))).toMatchObject({
      errors: [{ pointer: '/eventData/orderId', code: 'invalid', detail: "does not fit the event's data schema" }],
    })
  })

  it('An asynchronous zod schema is awaited', async () => {
    const deps = depsFor(z.object({ orderId: z.string().refine(async (id) => id === 'A-1') }))
    expect(await post(deps, bodyWith({ orderId: 'A-1' }))).toMatchObject({ status: 202 })
    expect(places(await refused(deps, bodyWith({ orderId: CANARY })))).toEqual([['/eventData/orderId', 'invalid']])
  })

  it('A schema message that quotes the value is not passed on', async () => {
    const data = v.object({
      orderId: v.pipe(
        v.string(),
        v.check(
          () => false,
          ({ input }) => `${input} is wrong`,
        ),
      ),
    })
    const problem = await refused(depsFor(data), bodyWith({ orderId: CANARY }))
    expect(JSON.stringify(problem)).not.toContain(CANARY)
  })

  it('A schema may refuse the data as a whole', async () => {
    const data = v.pipe(
      v.object({ a: v.number(), b: v.number() }),
      v.check(({ a, b }) => a < b, 'a is below b'),
    )
    expect(places(await refused(depsFor(data), bodyWith({ a: 2, b: 1 })))).toEqual([['/eventData', 'invalid']])
  })

  it('Templates and conditions receive the output of the schema', async () => {
    const events = defineEvents({
      'order.shipped': {
        data: v.object({
          at: v.pipe(
            v.string(),
            v.transform((text) => new Date(text)),
          ),
          size: v.optional(v.string(), 'm'),
        }),
        when: ({ data }) => data.at.getUTCFullYear() === 2026,
        channels: { email: { text: ({ data }) => `${data.at.getTime()} ${data.size}` } },
      },
    })
    const deps = testDeps({ email: recordingChannel() }, { events })
    await accepted(deps, bodyWith({ at: '2026-01-01T00:00:00Z' }))
    expect(await stored(deps)).toMatchObject([{ deliveries: [{ content: { text: '1767225600000 m' } }] }])
  })

  it('A schema that throws refuses the event, and nothing is stored', async () => {
    const data = v.pipe(
      v.unknown(),
      v.transform(() => JSON.parse(`{${CANARY}`)),
    )
    const deps = depsFor(data)
    const answer = await post(deps, bodyWith({}))
    const errors = [{ pointer: '/eventData', code: 'invalid' }]
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed', errors } })
    expect(JSON.stringify([answer, deps.logger.lines])).not.toContain(CANARY)
    expect(await stored(deps)).toEqual([])
  })
})

describe('an event without a schema', () => {
  it('An event without a schema accepts any object or no data', async () => {
    const events = defineEvents({ 'order.shipped': { channels: { email: {} } } })
    const deps = testDeps({ email: recordingChannel() }, { events })
    await accepted(deps, bodyWith({ any: ['thing'] }))
    expect(await stored(deps)).toMatchObject([{ deliveries: [{ content: { data: { any: ['thing'] } } }] }])
    await accepted(deps, bodyWith())
    expect(await stored(deps)).toMatchObject([{ deliveries: [{ content: { data: {} } }] }, {}])
    expect(await outcomes(deps)).toEqual(['email: queued 0'])
  })
})

import { type } from 'arktype'
import type {
  DispatchAnswer,
  DispatchPreview,
  JsonObject,
  Problem,
  ProblemCode,
  SessionRunBatchAnswer,
} from 'sallyport'
import { defineEvents } from 'sallyport'
import {
  type Client,
  type ClientError,
  createClient,
  createRunRecorder,
  type EventsOf,
  type FetchLike,
  isClientError,
  type ProcessLike,
  type RunRecorderOptions,
} from 'sallyport/client'
import * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'

const channels = { email: { subject: () => 'x', text: () => 'x' } }
const events = defineEvents({
  valibot: { data: v.object({ orderId: v.string(), at: v.pipe(v.string(), v.transform(Number)) }), channels },
  zod: { data: z.object({ total: z.coerce.number<string>() }), channels },
  arktype: { data: type({ name: 'string', 'age?': 'number' }), channels },
  plain: { channels },
})

const recipient = 'jane@example.com'
const options = { baseUrl: 'https://example.com', token: 'app' }

test('A client takes the events of its catalogue with the input type of each schema', () => {
  const client = createClient<typeof events>(options)
  expectTypeOf(client.dispatch).returns.resolves.toEqualTypeOf<DispatchAnswer>()
  expectTypeOf(client.preview).returns.resolves.toEqualTypeOf<DispatchPreview>()
  expectTypeOf(client.recordRuns).returns.resolves.toEqualTypeOf<SessionRunBatchAnswer>()
  const calls = () => [
    client.dispatch({ eventType: 'valibot', recipient, eventData: { orderId: 'A-1', at: '5' } }),
    client.dispatch({ eventType: 'zod', recipient, eventData: { total: '5' } }, { idempotencyKey: 'k' }),
    client.preview({ eventType: 'arktype', recipient, eventData: { name: 'Jane' }, channel: 'email', sessionId: 's1' }),
    client.dispatch({ eventType: 'plain', recipient }),
    client.dispatch({ eventType: 'plain', recipient, eventData: { any: [1, null] } }),
    // @ts-expect-error: there is no such event
    client.dispatch({ eventType: 'nothing', recipient }),
    // @ts-expect-error: the schema takes a string and returns the number
    client.dispatch({ eventType: 'valibot', recipient, eventData: { orderId: 'A-1', at: 5 } }),
    // @ts-expect-error: the data is that of another event
    client.preview({ eventType: 'zod', recipient, eventData: { name: 'Jane' } }),
    // @ts-expect-error: an event with a schema needs its data
    client.dispatch({ eventType: 'valibot', recipient }),
    // @ts-expect-error: there is no recipient
    client.dispatch({ eventType: 'plain' }),
    // @ts-expect-error: a preview takes no key
    client.preview({ eventType: 'plain', recipient }, { idempotencyKey: 'k' }),
  ]
  expectTypeOf(calls).toBeFunction()
})

test('A client without a catalogue takes any event', () => {
  const client = createClient(options)
  expectTypeOf(client).toEqualTypeOf<Client>()
  const calls = () => [
    client.dispatch({ eventType: 'anything', recipient }),
    client.dispatch({ eventType: 'anything', recipient, eventData: { any: [1, null] } }),
    // @ts-expect-error: data is JSON
    client.dispatch({ eventType: 'anything', recipient, eventData: { at: new Date() } }),
  ]
  expectTypeOf(calls).toBeFunction()
  expectTypeOf<EventsOf<unknown>>().toEqualTypeOf<Record<string, JsonObject>>()
  expectTypeOf<EventsOf<typeof events>['zod']>().toEqualTypeOf<{ total: string }>()
})

test('The code of a client error is a closed union', () => {
  const read = (error: unknown): string | undefined => {
    if (!isClientError(error)) return undefined
    expectTypeOf(error).toEqualTypeOf<ClientError>()
    expectTypeOf(error.code).toEqualTypeOf<ProblemCode | 'timeout' | 'network' | 'bad_answer' | 'option_invalid'>()
    expectTypeOf(error.problem).toEqualTypeOf<Problem | undefined>()
    switch (error.code) {
      case 'network':
      case 'event_unknown':
        return error.message
      // @ts-expect-error: there is no such code
      case 'offline':
        return error.message
      default:
        return undefined
    }
  }
  expectTypeOf(read).toBeFunction()
})

test('Fetch, process, waitUntil and a typed client fit the options of the client', () => {
  expectTypeOf<typeof fetch>().toExtend<FetchLike>()
  expectTypeOf<NodeJS.Process>().toExtend<ProcessLike>()
  expectTypeOf<(work: Promise<unknown>) => void>().toExtend<NonNullable<RunRecorderOptions['waitUntil']>>()
  expectTypeOf(createClient<typeof events>(options)).toExtend<RunRecorderOptions['client']>()
})

test('A recorded run takes only the fields of each method', () => {
  const recorder = createRunRecorder({ client: createClient(options) })
  expectTypeOf(recorder.start).returns.toExtend<Disposable & AsyncDisposable>()
  expectTypeOf(recorder).toExtend<AsyncDisposable>()
  expectTypeOf(recorder.record({ sessionId: 's1' }, async () => 5)).resolves.toBeNumber()
  const record = () => {
    const run = recorder.start({ sessionId: 's1', signal: undefined })
    run.add({ modelCalls: 1, ofMyOwn: 2 })
    run.update({ model: 'gpt-5', metadata: { key: null }, timings: { modelMs: 5 } })
    run.complete({ finishReason: 'stop', timings: { endedAt: '2026-11-21T08:00:00Z' } })
    run.fail(new Error('no'), { error: { type: 'rate_limit', retryable: true } })
    // @ts-expect-error: the status has methods of its own
    run.update({ status: 'failed' })
    // @ts-expect-error: counts are added up
    run.update({ counts: { steps: 1 } })
    // @ts-expect-error: only the end has one
    run.update({ timings: { endedAt: 5 } })
    // @ts-expect-error: only the end has an error
    run.update({ error: { type: 'no' } })
    // @ts-expect-error: `waitFor` takes a closed union
    run.waitFor('godot')
    // @ts-expect-error: a run belongs to a session
    recorder.start({ runId: 'r1' })
  }
  expectTypeOf(record).toBeFunction()
})

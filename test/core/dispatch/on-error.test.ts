import { failover } from 'sallyport/channels/failover'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { POSTS } from '../../../src/actions/table.ts'
import {
  handleDispatchWithDefaults,
  handleSessionRunBatchWithDefaults,
  handleSessionRunWithDefaults,
} from '../../../src/compose/defaults.ts'
import type { ErrorContext } from '../../../src/core/answers/report-fault.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchDeps } from '../../../src/core/dispatch/handle-dispatch.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { composed } from '../../compose/composed.ts'
import { APP, testAuth, testDeps } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { handled } from '../../support/handled.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

/** The error that the tested part throws. */
const THROWN = Object.assign(new RangeError('jane@example.com has no total'), { code: 'E_OWN' })
const fail = (): never => {
  throw THROWN
}

const RECIPIENT = 'jane@example.com'
const events = defineEvents({
  plain: { channels: { a: {} } },
  template: { channels: { a: { text: fail, more: fail }, b: { text: () => 'fine' } } },
  condition: { when: fail, channels: { a: {}, b: {} } },
  'own-condition': { channels: { a: { when: fail }, b: {} } },
  schema: { data: v.pipe(v.object({}), v.transform(fail)), channels: { a: {} } },
  'digest-key': { digest: { windowMs: 1_000, key: fail }, channels: { a: {} } },
  digest: {
    digest: { windowMs: 1_000 },
    channels: { a: { text: ({ events }) => (events.length > 1 ? fail() : 'one') } },
  },
  'no-boolean': { channels: { a: { when: () => 'yes' as never } } },
})

type Reported = readonly [error: unknown, context: ErrorContext]

/** Hooks that record the calls of `onError`. */
function recordingHooks() {
  const seen: Reported[] = []
  return { seen, hooks: { onError: (...args: Reported) => void seen.push(args) } }
}

const settled = (): Promise<void> => new Promise(setImmediate)

const HOST = { id: 'x', tenant: 'default' }

describe('onError of dispatches', () => {
  it.each<[string, readonly object[]]>([
    [
      'template',
      [
        { operation: 'template', channel: 'a', field: 'text' },
        { operation: 'template', channel: 'a', field: 'more' },
      ],
    ],
    ['condition', [{ operation: 'condition' }]],
    ['own-condition', [{ operation: 'condition', channel: 'a' }]],
    ['digest-key', [{ operation: 'digest_key', channel: 'a' }]],
  ])('onError receives the error of an event function at acceptance: %s', async (eventType, places) => {
    const { seen, hooks } = recordingHooks()
    const { sallyport } = composed(events, { hooks })
    const answer = await sallyport.dispatch({ eventType, recipient: RECIPIENT } as never)
    expect(answer).toMatchObject({ status: 202, body: { dispatchId: 'dsp_1' } })
    expect(seen).toEqual(places.map((place) => [THROWN, { eventType, dispatchId: 'dsp_1', ...place }]))
    expect(seen.every(([error]) => error === THROWN)).toBe(true)
    const stored = await sallyport.dispatches.list()
    expect(JSON.stringify([answer, stored])).not.toMatch(/total|E_OWN|on-error\.test/)
  })

  it.each(['template', 'own-condition', 'schema', 'digest-key'])(
    'onError receives the error of a dry run without a dispatchId: %s',
    async (eventType) => {
      const { seen, hooks } = recordingHooks()
      const deps = testDeps({ a: recordingChannel(), b: recordingChannel() }, { events, hooks })
      const request = { headers: APP, body: { eventType, recipient: RECIPIENT }, query: { dryRun: 'true' } }
      const answer = await handleDispatchWithDefaults(request, deps)
      expect(seen[0]).toEqual([THROWN, expect.not.objectContaining({ dispatchId: expect.anything() })])
      expect(seen[0]?.[1]).toMatchObject({ eventType })
      expect(JSON.stringify(answer)).not.toMatch(/no total|E_OWN/)
    },
  )

  it('onError receives the error of a data schema, and the answer is 422', async () => {
    const { seen, hooks } = recordingHooks()
    const { sallyport, logger } = composed(events, { hooks })
    expect(
      await sallyport.dispatch({ eventType: 'schema', recipient: RECIPIENT, eventData: {} } as never),
    ).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/eventData', code: 'invalid' }] },
    })
    expect(seen).toEqual([[THROWN, { operation: 'data_schema', eventType: 'schema' }]])
    expect(logger.lines).toMatchObject([
      { level: 'error', event: 'event.failed', fields: { causeCode: 'E_OWN' } },
      { level: 'warn', event: 'dispatch.refused' },
    ])
    expect(JSON.stringify(logger.lines)).not.toContain('jane')
  })

  it('onError receives the error of the last failover provider', async () => {
    const { seen, hooks } = recordingHooks()
    const [broken, second] = [recordingChannel([fail]), recordingChannel([fail])]
    const { sallyport } = composed(events, { hooks, channels: { a: failover(broken, second), b: broken, c: broken } })
    await sallyport.dispatch({ eventType: 'plain', recipient: RECIPIENT } as never)
    await sallyport.worker.runDue()
    expect(seen).toEqual([[THROWN, expect.objectContaining({ operation: 'channel', channel: 'a' })]])
  })

  it('onError receives a TypeError for an invalid value of a function', async () => {
    const { seen, hooks } = recordingHooks()
    const { sallyport } = composed(events, { hooks })
    await sallyport.dispatch({ eventType: 'no-boolean', recipient: RECIPIENT } as never)
    const message = 'the condition function returned a string; return true or false at once'
    const error = expect.objectContaining({ name: 'TypeError', message })
    expect(seen).toEqual([[error, expect.objectContaining({ operation: 'condition', channel: 'a' })]])
  })

  it.each<[string, Partial<DispatchDeps>, object]>([
    ['auth', { auth: { verify: fail } }, { operation: 'auth' }],
    ['store', { store: { ...memoryStore(), accept: fail } }, { operation: 'store', eventType: 'plain' }],
    ['directory', { recipients: { find: fail } }, { operation: 'directory', eventType: 'plain' }],
    ['policy', { policy: { decide: fail } }, { operation: 'policy', eventType: 'plain' }],
    ['ids', { ids: { next: (prefix) => (prefix === 'req' ? 'req_1' : fail()) } }, { operation: 'request' }],
  ])('onError receives the error of a failed port with the request id: %s', async (port, broken, place) => {
    const { seen, hooks } = recordingHooks()
    const deps = testDeps({ a: recordingChannel() }, { events, hooks })
    const body = { eventType: 'plain', recipient: port === 'directory' ? 'user_1' : RECIPIENT }
    const answer = await handleDispatchWithDefaults({ headers: APP, body }, { ...deps, ...broken })
    expect(answer.ok).toBe(false)
    const requestId = 'requestId' in answer.body ? answer.body.requestId : undefined
    expect(seen).toEqual([[THROWN, { ...place, requestId }]])
    expect(JSON.stringify([answer, deps.logger.lines])).not.toContain('no total')
  })

  it('onError receives errors of a rate limiter, a queue and the address of a channel', async () => {
    const { seen, hooks } = recordingHooks()
    const a = recordingChannel([], { address: fail })
    const queue = { wake: fail, listen: () => () => {} }
    const rateLimiter = { consume: fail }
    const { sallyport } = composed(events, { hooks, queue, rateLimiter, channels: { a, b: recordingChannel(), c: a } })
    await sallyport.dispatch({ eventType: 'own-condition', recipient: RECIPIENT } as never)
    await sallyport.dispatch({ eventType: 'plain', recipient: RECIPIENT } as never)
    const principal = { id: 'x', tenant: 't' }
    const refused = await sallyport.endpoints.admit?.(principal, POSTS.dispatch)
    sallyport.endpoints.refuse(refused as never)
    expect(seen.map(([error, { operation }]) => [error === THROWN, operation])).toEqual([
      [true, 'condition'],
      [true, 'queue'],
      [true, 'channel'],
      [true, 'rate_limiter'],
    ])
  })

  it('onError receives the error of a channel that throws for an unknown recipient', async () => {
    const { seen, hooks } = recordingHooks()
    const a = recordingChannel([], { address: fail })
    const { sallyport } = composed(events, { hooks, channels: { a, b: a, c: a } })
    expect(await sallyport.dispatch({ eventType: 'plain', recipient: 'user_1' } as never)).toMatchObject({
      status: 422,
    })
    expect(seen).toEqual([[THROWN, { operation: 'channel', eventType: 'plain', channel: 'a' }]])
  })

  it('onError receives errors of a hook, of a send, and of an outcome with a cause', async () => {
    const { seen, hooks } = recordingHooks()
    const a = recordingChannel([fail, { outcome: 'unknown', code: 'odd', cause: THROWN }, { outcome: 'sent' }])
    const { sallyport, clock } = composed(events, { hooks: { ...hooks, onSent: fail }, channels: { a, b: a, c: a } })
    await sallyport.dispatch({ eventType: 'plain', recipient: RECIPIENT } as never)
    for (let attempt = 0; attempt < 3; attempt++) {
      await sallyport.worker.runDue()
      clock.advance(60_000)
    }
    const place = { eventType: 'plain', channel: 'a', dispatchId: 'dsp_1', deliveryId: 'dlv_2' }
    expect(seen).toEqual([
      [THROWN, { operation: 'channel', ...place }],
      [THROWN, { operation: 'channel', ...place }],
      [THROWN, { operation: 'hook', ...place }],
    ])
    expect(JSON.stringify(await sallyport.dispatches.list())).not.toMatch(/no total|E_OWN/)
  })

  it('onError receives the error of a digest template in a worker', async () => {
    const { seen, hooks } = recordingHooks()
    const { sallyport, clock, logger } = composed(events, { hooks })
    for (let times = 0; times < 2; times++)
      await sallyport.dispatch({ eventType: 'digest', recipient: RECIPIENT } as never)
    clock.advance(1_000)
    expect(await sallyport.worker.runDue()).toMatchObject({ failed: 1 })
    expect(seen).toEqual([
      [
        THROWN,
        {
          operation: 'template',
          eventType: 'digest',
          channel: 'a',
          field: 'text',
          dispatchId: 'dsp_1',
          deliveryId: 'dlv_2',
        },
      ],
    ])
    expect(logger.lines).toContainEqual({
      level: 'error',
      event: 'event.failed',
      fields: expect.objectContaining({ field: 'text', message: THROWN.message, causeCode: 'E_OWN' }),
    })
  })

  it('onError receives errors of the store, the directory and the policy in a worker', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { seen, hooks } = recordingHooks()
    let broken: string | undefined
    const breaking =
      <Args extends readonly unknown[], T>(name: string, call: (...args: Args) => T) =>
      (...args: Args): T =>
        broken === name ? fail() : call(...args)
    const { sallyport } = composed(events, {
      ...{ clock, hooks },
      store: { ...store, settle: breaking('settle', store.settle), claim: breaking('claim', store.claim) },
      recipients: { find: breaking('directory', async (id) => ({ id, email: RECIPIENT })) },
      policy: { decide: breaking('policy', async () => ({ verdict: 'send' as const })) },
    })
    await sallyport.dispatch({ eventType: 'plain', recipient: 'user_1' } as never)
    clock.advance(120_000)
    for (const name of ['directory', 'policy']) {
      broken = name
      await sallyport.worker.runDue()
      clock.advance(60_000)
    }
    broken = 'claim'
    sallyport.worker.start()
    for (let turn = 0; turn < 5; turn++) await settled()
    await sallyport.worker.stop()
    expect(seen.map(([error, { operation }]) => [error === THROWN, operation])).toEqual([
      [true, 'directory'],
      [true, 'policy'],
      [true, 'store'],
    ])
  })
})

describe('onError of runs', () => {
  const headers = APP
  const run = { runId: 'r1', status: 'failed', model: 'm', tags: ['x'], counts: { inputTokens: 1 } }
  const body = { sessionId: 's1', run }

  it.each<[string, object, ErrorContext['operation']]>([
    ['the store', { store: { ...memoryStore(), mergeRun: fail } }, 'store'],
    ['the price book', { prices: { price: fail } }, 'price_book'],
    ['the redactor', { redactor: { redact: fail } }, 'redactor'],
    ['the verifier', { auth: { verify: fail } }, 'auth'],
  ])('onError receives the error of %s during a post of a run', async (_, broken, operation) => {
    const { seen, hooks } = recordingHooks()
    const { store, clock, ids, logger } = testDeps()
    const deps = { auth: testAuth, store, clock, ids, logger, hooks, ...broken }
    const answer = await handleSessionRunWithDefaults({ headers, body }, deps)
    expect(answer.ok).toBe(false)
    const context = { operation, requestId: 'req_1', ...(operation !== 'auth' && { runId: 'r1' }) }
    expect(seen).toEqual([[THROWN, context]])
    expect(seen[0]?.[0]).toBe(THROWN)
    expect(JSON.stringify([answer, logger.lines])).not.toContain('no total')
    if (operation === 'auth') return
    expect(await handleSessionRunBatchWithDefaults({ headers, body: { runs: [body] } }, deps)).toMatchObject({
      status: 200,
    })
    expect(seen).toHaveLength(2)
  })

  it('onError receives errors of exporters', async () => {
    const { seen, hooks } = recordingHooks()
    const exporters = [{ export: fail }, { export: async () => fail() }]
    const { sallyport } = composed(events, { hooks, exporters })
    await handled(sallyport.endpoints, 'session_run', HOST, { headers: {}, body })
    for (let turn = 0; turn < 5; turn++) await settled()
    expect(seen).toEqual([
      [THROWN, { operation: 'exporter', runId: 'r1' }],
      [THROWN, { operation: 'exporter', runId: 'r1' }],
    ])
  })
})

describe('an answer', () => {
  it('An answer neither waits for onError nor depends on it', async () => {
    const event = { eventType: 'template', recipient: RECIPIENT } as never
    const plain = await composed(events).sallyport.dispatch(event)
    for (const onError of [() => new Promise(() => {}), fail, async () => fail()]) {
      const { sallyport } = composed(events, { hooks: { onError } })
      expect(await sallyport.dispatch(event)).toEqual(plain)
      await settled()
    }
  })
})

import { failover } from 'sallyport/channels/failover'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { ErrorContext } from '../../../src/core/answers/report-fault.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchDeps } from '../../../src/core/dispatch/handle-dispatch.ts'
import type { RunEvents } from '../../../src/core/runs/events/run-events.ts'
import {
  handleDispatchWithDefaults,
  handleSessionRunBatchWithDefaults,
  handleSessionRunWithDefaults,
} from '../../../src/sallyport/defaults.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { composed } from '../../sallyport/composed.ts'
import { APP, testAuth, testDeps } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

/** What the part that is under test throws. */
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
  'run.failed': { channels: { a: {} } },
})

type Reported = readonly [error: unknown, context: ErrorContext]

/** Hooks that note what they are given. */
function noting() {
  const seen: Reported[] = []
  return { seen, hooks: { onError: (...args: Reported) => void seen.push(args) } }
}

const settled = (): Promise<void> => new Promise(setImmediate)

const HOST = { id: 'x', tenant: 'default' }

describe('onError receives what was thrown, and where,', () => {
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
  ])('by an event function when an event is accepted: %s', async (eventType, places) => {
    const { seen, hooks } = noting()
    const { sallyport } = composed(events, { hooks })
    const answer = await sallyport.dispatch({ eventType, recipient: RECIPIENT } as never)
    expect(answer).toMatchObject({ status: 202, body: { dispatchId: 'dsp_1' } })
    expect(seen).toEqual(places.map((place) => [THROWN, { eventType, dispatchId: 'dsp_1', ...place }]))
    expect(seen.every(([error]) => error === THROWN)).toBe(true)
    const stored = await sallyport.dispatches.list()
    expect(JSON.stringify([answer, stored])).not.toMatch(/total|E_OWN|on-error\.test/)
  })

  it.each(['template', 'own-condition', 'schema', 'digest-key'])(
    'in a dry run, by the handler alone, without an id of what is not stored: %s',
    async (eventType) => {
      const { seen, hooks } = noting()
      const deps = testDeps({ a: recordingChannel(), b: recordingChannel() }, { events, hooks })
      const request = { headers: APP, body: { eventType, recipient: RECIPIENT }, query: { dryRun: 'true' } }
      const answer = await handleDispatchWithDefaults(request, deps)
      expect(seen[0]).toEqual([THROWN, expect.not.objectContaining({ dispatchId: expect.anything() })])
      expect(seen[0]?.[1]).toMatchObject({ eventType })
      expect(JSON.stringify(answer)).not.toMatch(/no total|E_OWN/)
    },
  )

  it('by a data schema, which is answered 422 all the same', async () => {
    const { seen, hooks } = noting()
    const { sallyport, logger } = composed(events, { hooks })
    expect(
      await sallyport.dispatch({ eventType: 'schema', recipient: RECIPIENT, eventData: {} } as never),
    ).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/eventData', code: 'invalid' }] },
    })
    expect(seen).toEqual([[THROWN, { operation: 'data_schema', eventType: 'schema' }]])
    expect(logger.lines).toMatchObject([{ level: 'error', event: 'event.failed', fields: { causeCode: 'E_OWN' } }])
    expect(JSON.stringify(logger.lines)).not.toContain('jane')
  })

  it('by the last of several providers of failover', async () => {
    const { seen, hooks } = noting()
    const broken = recordingChannel([fail])
    const { sallyport } = composed(events, { hooks, channels: { a: failover(broken, broken), b: broken, c: broken } })
    await sallyport.dispatch({ eventType: 'plain', recipient: RECIPIENT } as never)
    await sallyport.worker.runDue()
    expect(seen).toEqual([[THROWN, expect.objectContaining({ operation: 'channel', channel: 'a' })]])
  })

  it('by nobody, as a TypeError, when a function gave what it may not', async () => {
    const { seen, hooks } = noting()
    const { sallyport } = composed(events, { hooks })
    await sallyport.dispatch({ eventType: 'no-boolean', recipient: RECIPIENT } as never)
    const error = expect.objectContaining({ name: 'TypeError', message: 'the condition function gave no boolean' })
    expect(seen).toEqual([[error, expect.objectContaining({ operation: 'condition', channel: 'a' })]])
  })

  it.each<[string, Partial<DispatchDeps>, object]>([
    ['auth', { auth: { verify: fail } }, { operation: 'auth' }],
    ['store', { store: { ...memoryStore(), accept: fail } }, { operation: 'store', eventType: 'plain' }],
    ['directory', { recipients: { find: fail } }, { operation: 'directory', eventType: 'plain' }],
    ['policy', { policy: { decide: fail } }, { operation: 'policy', eventType: 'plain' }],
    ['ids', { ids: { next: (prefix) => (prefix === 'req' ? 'req_1' : fail()) } }, { operation: 'request' }],
  ])('by a port that keeps a request from being answered, with its request id: %s', async (port, broken, place) => {
    const { seen, hooks } = noting()
    const deps = testDeps({ a: recordingChannel() }, { events, hooks })
    const body = { eventType: 'plain', recipient: port === 'directory' ? 'user_1' : RECIPIENT }
    const answer = await handleDispatchWithDefaults({ headers: APP, body }, { ...deps, ...broken })
    expect(answer.ok).toBe(false)
    const requestId = 'requestId' in answer.body ? answer.body.requestId : undefined
    expect(seen).toEqual([[THROWN, { ...place, requestId }]])
    expect(JSON.stringify([answer, deps.logger.lines])).not.toContain('no total')
  })

  it('by a rate limiter, a queue, and a channel that is asked for an address', async () => {
    const { seen, hooks } = noting()
    const a = recordingChannel([], { address: fail })
    const queue = { wake: fail, listen: () => () => {} }
    const rateLimiter = { consume: fail }
    const { sallyport } = composed(events, { hooks, queue, rateLimiter, channels: { a, b: recordingChannel(), c: a } })
    await sallyport.dispatch({ eventType: 'own-condition', recipient: RECIPIENT } as never)
    await sallyport.dispatch({ eventType: 'plain', recipient: RECIPIENT } as never)
    const principal = { id: 'x', tenant: 't' }
    const refused = await sallyport.endpoints.admit?.(principal, 'dispatch')
    sallyport.endpoints.refuse(refused as never)
    expect(seen.map(([error, { operation }]) => [error === THROWN, operation])).toEqual([
      [true, 'condition'],
      [true, 'queue'],
      [true, 'channel'],
      [true, 'rate_limiter'],
    ])
  })

  it('by an unknown recipient and a channel that throws for it', async () => {
    const { seen, hooks } = noting()
    const a = recordingChannel([], { address: fail })
    const { sallyport } = composed(events, { hooks, channels: { a, b: a, c: a } })
    expect(await sallyport.dispatch({ eventType: 'plain', recipient: 'user_1' } as never)).toMatchObject({
      status: 422,
    })
    expect(seen).toEqual([[THROWN, { operation: 'channel', eventType: 'plain', channel: 'a' }]])
  })

  it('by a hook, a channel that sends, and one that caught what it does not know', async () => {
    const { seen, hooks } = noting()
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

  it('by a template of a digest that is rendered by a worker', async () => {
    const { seen, hooks } = noting()
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

  it('by a store, a directory and a policy that a worker asks', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { seen, hooks } = noting()
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

describe('onError receives, of runs,', () => {
  const headers = APP
  const run = { runId: 'r1', status: 'failed', model: 'm', tags: ['x'], counts: { inputTokens: 1 } }
  const body = { sessionId: 's1', run }

  it.each<[string, object, ErrorContext['operation']]>([
    ['the store', { store: { ...memoryStore(), mergeRun: fail } }, 'store'],
    ['the price book', { prices: { price: fail } }, 'price_book'],
    ['the redactor', { redactor: { redact: fail } }, 'redactor'],
    ['the verifier', { auth: { verify: fail } }, 'auth'],
  ])('what was thrown by %s, with the ids of run and request', async (_, broken, operation) => {
    const { seen, hooks } = noting()
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

  it('what was thrown by an exporter, and by the function of a run event', async () => {
    const { seen, hooks } = noting()
    const runEvents: RunEvents = { 'run.failed': fail }
    const exporters = [{ export: fail }, { export: async () => fail() }]
    const { sallyport } = composed(events, { hooks, runEvents, exporters })
    await sallyport.endpoints.handle('session_run', HOST, { headers: {}, body })
    for (let turn = 0; turn < 5; turn++) await settled()
    expect(seen).toEqual([
      [THROWN, { operation: 'exporter', runId: 'r1' }],
      [THROWN, { operation: 'exporter', runId: 'r1' }],
      [THROWN, { operation: 'run_event', eventType: 'run.failed', runId: 'r1' }],
    ])
  })
})

describe('an answer', () => {
  it('waits for no onError, and is the same whatever that does', async () => {
    const event = { eventType: 'template', recipient: RECIPIENT } as never
    const plain = await composed(events).sallyport.dispatch(event)
    for (const onError of [() => new Promise(() => {}), fail, async () => fail()]) {
      const { sallyport } = composed(events, { hooks: { onError } })
      expect(await sallyport.dispatch(event)).toEqual(plain)
      await settled()
    }
  })
})

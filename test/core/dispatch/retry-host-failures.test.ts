import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryPolicy, PolicyQuestion } from '../../../src/ports/delivery-policy.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { composed, ends, took } from '../../compose/composed.ts'
import { countingIds } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { handled } from '../../support/handled.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const HOUR = 3_600_000
const EVENT = { eventType: 'reset', recipient: 'jane@example.com', eventData: { code: 'canary-7' } } as const
const REJECTED = { outcome: 'rejected', code: 'gone' } as const

interface Reset {
  readonly data: { readonly code?: string }
}

const broken = (): string => {
  throw new TypeError('no such helper')
}
const text = ({ data }: Reset): string => `Your code is ${data.code}`

const BROKEN = defineEvents({ reset: { channels: { a: { text: broken } } } })
const FIXED = defineEvents({ reset: { channels: { a: { text } } } })

/** Hosts on one store; each deploy has its own catalogue. */
function deploys() {
  const clock = fakeClock()
  const memory = memoryStore({ clock })
  const channels = { a: recordingChannel(), b: recordingChannel(), c: recordingChannel() }
  const ids = countingIds()
  return {
    clock,
    channels,
    memory,
    // biome-ignore lint/suspicious/noExplicitAny: each catalogue has its own events.
    deploy: (events: EventCatalog<any>, rest: Omit<Partial<SallyportOptions<any>>, 'clock'> = {}) =>
      composed(events, { clock, store: memory, channels, ids, ...rest }),
  }
}

/** Accepts an event in a broken deploy. */
async function accepted(own: ReturnType<typeof deploys>, events: EventCatalog = BROKEN, rest: object = {}) {
  const { dispatchId } = took(await own.deploy(events, rest).sallyport.dispatch(EVENT))
  return dispatchId
}

describe('a retry of a host failure', () => {
  it('A retry of a host failure renders it with the current catalogue and sends it', async () => {
    const own = deploys()
    const dispatchId = await accepted(own)
    const { sallyport } = own.deploy(FIXED)
    expect((await sallyport.dispatches.get(dispatchId))?.deliveries).toMatchObject([
      { status: 'failed', reason: 'template_error' },
    ])
    const retried = await sallyport.dispatches.retry(dispatchId)
    expect(retried).toMatchObject({ retried: [{ channel: 'a', status: 'queued', attempts: 0 }], unplanned: [] })
    expect(retried?.dispatch).toEqual(await sallyport.dispatches.get(dispatchId))
    await sallyport.worker.runDue()
    expect(own.channels.a.sent).toMatchObject([{ to: 'jane@example.com', content: { text: 'Your code is canary-7' } }])
    expect(await sallyport.dispatches.retry(dispatchId)).toMatchObject({ retried: [], dispatch: { status: 'sent' } })
  })

  it('A retry of a host failure evaluates its conditions again and calls onSkipped', async () => {
    const own = deploys()
    const events = defineEvents({ reset: { channels: { a: { when: () => broken() as never } } } })
    const dispatchId = await accepted(own, events)
    const skipped: unknown[] = []
    const fixed = defineEvents({ reset: { channels: { a: { when: () => false } } } })
    const hooks = { onSkipped: (event: unknown) => void skipped.push(event) }
    const { sallyport } = own.deploy(fixed, { hooks })
    const retried = await sallyport.dispatches.retry(dispatchId)
    expect(retried).toMatchObject({ retried: [], unplanned: [] })
    expect(ends(retried?.dispatch ?? { deliveries: [] })).toEqual(['a: skipped condition_false'])
    expect(skipped).toMatchObject([{ dispatchId, channel: 'a', reason: 'condition_false', eventType: 'reset' }])
  })

  it('A retry that fails in host code again reports and logs the fault and can be repeated', async () => {
    const own = deploys()
    const dispatchId = await accepted(own)
    const { sallyport, logger } = own.deploy(BROKEN)
    const before = await sallyport.dispatches.get(dispatchId)
    const [delivery] = before?.deliveries ?? []
    expect(await sallyport.dispatches.retry(dispatchId)).toEqual({
      retried: [],
      unplanned: [
        {
          deliveryId: delivery?.deliveryId,
          channel: 'a',
          code: 'template_error',
          detail: 'text: the template function threw',
        },
      ],
      dispatch: before,
    })
    expect(logger.lines).toMatchObject([
      { level: 'error', event: 'event.failed', fields: { dispatchId, channel: 'a', message: 'no such helper' } },
      { level: 'warn', event: 'delivery.failed', fields: { dispatchId, channel: 'a', reason: 'template_error' } },
    ])
    expect((await own.deploy(FIXED).sallyport.dispatches.retry(dispatchId))?.retried).toHaveLength(1)
  })

  it('A retry covers host failures and rejected deliveries, or only the named channel', async () => {
    const events = (a: () => string) => defineEvents({ reset: { channels: { a: { text: a }, b: {}, c: { text: a } } } })
    for (const channel of [undefined, 'a', 'b'] as const) {
      const own = deploys()
      own.channels.b = recordingChannel([REJECTED])
      const { sallyport } = own.deploy(events(broken))
      const { dispatchId } = took(await sallyport.dispatch(EVENT))
      await sallyport.worker.runDue()
      const fixed = own.deploy(events(() => 'hello')).sallyport
      const options = channel && { channel }
      const { retried = [] } = (await fixed.dispatches.retry(dispatchId, options)) ?? {}
      expect(retried.map((one) => one.channel)).toEqual(channel ? [channel] : ['a', 'b', 'c'])
    }
  })

  it('A retry of a host failure keeps the rest of its delay, and the policy may defer it', async () => {
    const own = deploys()
    const late = (a: () => string, delayMs = HOUR) => defineEvents({ reset: { delayMs, channels: { a: { text: a } } } })
    const dispatchId = await accepted(own, late(broken))
    const start = own.clock.now()
    own.clock.advance(HOUR / 4)
    const until = start + 3 * HOUR
    const dueAt = async (policy?: DeliveryPolicy) => {
      const { sallyport } = own.deploy(
        late(() => 'x'),
        policy && { policy },
      )
      await sallyport.dispatches.retry(dispatchId)
      return (await own.memory.findDispatch('default', dispatchId))?.deliveries[0]?.dueAt
    }
    expect(await dueAt()).toBe(start + HOUR)
    const other = deploys()
    const { sallyport } = other.deploy(BROKEN)
    const asked = took(await sallyport.dispatch(EVENT, { delayMs: HOUR })).dispatchId
    other.clock.advance(2 * HOUR)
    const policy: DeliveryPolicy = { decide: () => ({ verdict: 'defer', until }) }
    await other.deploy(FIXED, { policy }).sallyport.dispatches.retry(asked)
    expect((await other.memory.findDispatch('default', asked))?.deliveries).toMatchObject([
      { dueAt: until, deferred: true },
    ])
  })

  it('A retry of a host failure asks the policy with the current time', async () => {
    const own = deploys()
    const dispatchId = await accepted(own)
    const questions: PolicyQuestion[] = []
    const policy: DeliveryPolicy = {
      decide(question) {
        questions.push(question)
        return { verdict: 'skip', reason: 'opted_out' }
      },
    }
    own.clock.advance(HOUR)
    const { sallyport } = own.deploy(FIXED, { policy })
    const retried = await sallyport.dispatches.retry(dispatchId)
    expect(ends(retried?.dispatch ?? { deliveries: [] })).toEqual(['a: skipped opted_out'])
    expect(questions).toMatchObject([{ channel: 'a', eventType: 'reset', at: own.clock.now() }])
    expect(questions[0]).not.toHaveProperty('sessionId')
  })

  it('A retried dispatch of a session token does not join a digest of an application', async () => {
    const events = (a: () => string) => {
      return defineEvents({ reset: { digest: { windowMs: HOUR }, channels: { a: { text: a } } } })
    }
    const own = deploys()
    const agent = { id: 'agent', tenant: 'default', sessionId: 's1', grants: {} }
    const grant = { events: ['reset'], channels: ['a'], recipients: ['jane@example.com'] }
    const request = { headers: {}, body: { ...EVENT, sessionId: 's1' } }
    const principal = { ...agent, dispatch: grant, grants: { dispatch: grant } }
    const answer = await handled(
      own.deploy(events(broken)).sallyport.endpoints,
      'dispatch',
      principal as never,
      request,
    )
    const { dispatchId } = took(answer as never)
    const { sallyport } = own.deploy(events(() => 'x'))
    const application = took(await sallyport.dispatch(EVENT))
    const retried = await sallyport.dispatches.retry(dispatchId)
    expect(retried?.dispatch.deliveries).toMatchObject([{ status: 'queued', eventCount: 1 }])
    expect(retried?.dispatch.deliveries[0]?.deliveryId).not.toBe(application.deliveries[0]?.deliveryId)
    const second = took(await own.deploy(events(broken)).sallyport.dispatch(EVENT)).dispatchId
    expect((await sallyport.dispatches.retry(second))?.dispatch.deliveries).toMatchObject([
      { deliveryId: application.deliveries[0]?.deliveryId, eventCount: 2 },
    ])
  })

  it('A retry of a host failure keeps the route of its dispatch, in the order of the event', async () => {
    const events = (a: () => string, route: 'first' | 'all') => {
      return defineEvents({ reset: { route, channels: { a: { text: a }, b: {}, c: { text: a } } } })
    }
    const own = deploys()
    own.channels.b = recordingChannel([REJECTED])
    const { sallyport } = own.deploy(events(broken, 'first'))
    const { dispatchId } = took(await sallyport.dispatch(EVENT))
    const fixed = own.deploy(events(() => 'x', 'all')).sallyport
    expect(await fixed.dispatches.retry(dispatchId)).toMatchObject({ retried: [], dispatch: { status: 'queued' } })
    await sallyport.worker.runDue()
    const retried = await fixed.dispatches.retry(dispatchId)
    expect(ends(retried?.dispatch ?? { deliveries: [] })).toEqual(['a: queued', 'b: held', 'c: held'])
    await fixed.worker.runDue()
    expect(ends((await fixed.dispatches.get(dispatchId)) ?? { deliveries: [] })).toEqual([
      'a: sent',
      'b: skipped fallback_unneeded',
      'c: skipped fallback_unneeded',
    ])
  })

  it('A retry of a host failure wakes a running worker', async () => {
    const own = deploys()
    const dispatchId = await accepted(own)
    const { sallyport } = own.deploy(FIXED)
    sallyport.worker.start()
    const rounds = async () => {
      for (let round = 0; round < 5; round++) {
        await new Promise(setImmediate)
        own.clock.advance(10)
      }
    }
    await rounds()
    await sallyport.dispatches.retry(dispatchId)
    await rounds()
    expect(own.channels.a.sent).toHaveLength(1)
    await sallyport.worker.stop()
  })
})

describe('a retry that cannot be planned', () => {
  const schema = v.object({ code: v.string(), link: v.string() })
  const stricter = defineEvents({ reset: { data: schema, channels: { a: {} } } })
  const other = defineEvents({ 'reset.password': { channels: { a: {} } } })
  const moved = defineEvents({ reset: { channels: { b: {} } } })
  const directory = (find: () => never | undefined) => ({ recipients: { find: async () => find() } })
  const failing = (): never => {
    throw Object.assign(new Error('canary'), { code: 'ECONNREFUSED' })
  }
  const refusing: DeliveryPolicy = { decide: failing }

  it.each([
    ['data that do not fit', stricter, {}, 'validation_failed', '/eventData/link'],
    ['an event that is gone', other, {}, 'event_unknown', '/eventType'],
    ['a channel that is gone', moved, {}, 'channel_not_allowed', undefined],
    ['a recipient that is gone', FIXED, directory(() => undefined), 'recipient_unresolvable', '/recipient'],
    ['a directory that is down', FIXED, directory(failing), 'directory_unavailable', undefined],
    ['a policy that is down', FIXED, { policy: refusing }, 'policy_unavailable', undefined],
  ])('A retry reports %s and changes nothing', async (_, events, rest, code, pointer) => {
    const own = deploys()
    const known = { recipients: { find: async () => ({ id: 'u', email: 'jane@example.com' }) } }
    const first = own.deploy(BROKEN, known).sallyport
    const { dispatchId } = took(await first.dispatch({ ...EVENT, recipient: 'user_42' }))
    const before = await first.dispatches.get(dispatchId)
    const isDown = code.endsWith('unavailable')
    const { sallyport, logger } = own.deploy(events, { ...known, ...rest })
    const retried = await sallyport.dispatches.retry(dispatchId)
    const [problem] = retried?.unplanned ?? []
    expect(retried).toMatchObject({ retried: [], unplanned: [{ channel: 'a', code }], dispatch: before as object })
    expect(problem?.errors?.[0]?.pointer).toBe(pointer)
    const fields = { dispatchId, channel: 'a', code, ...(isDown && { cause: 'Error', causeCode: 'ECONNREFUSED' }) }
    expect(logger.lines).toMatchObject([{ level: 'warn', event: 'delivery.replan_refused', fields }])
    expect(JSON.stringify([retried, logger.lines])).not.toContain('canary')
    expect((await own.deploy(FIXED, known).sallyport.dispatches.retry(dispatchId))?.retried).toHaveLength(1)
  })

  it('A retry replans the remaining channels and requeues rejected deliveries', async () => {
    const own = deploys()
    own.channels.c = recordingChannel([REJECTED])
    const events = defineEvents({ reset: { channels: { a: { text: broken }, b: { text: broken }, c: {} } } })
    const { sallyport } = own.deploy(events)
    const { dispatchId } = took(await sallyport.dispatch(EVENT))
    await sallyport.worker.runDue()
    const without = defineEvents({ reset: { channels: { b: {}, c: {} } } })
    const retried = await own.deploy(without).sallyport.dispatches.retry(dispatchId)
    expect(retried?.unplanned).toMatchObject([{ channel: 'a', code: 'channel_not_allowed' }])
    expect(retried?.retried.map(({ channel }) => channel)).toEqual(['b', 'c'])
  })

  it('A retry leaves a delivery that failed in its channel before it had content', async () => {
    const own = deploys()
    const { sallyport } = own.deploy(FIXED, { channels: { a: { ...recordingChannel(), address: broken } } })
    const { dispatchId } = took(await sallyport.dispatch(EVENT))
    expect(await own.deploy(FIXED).sallyport.dispatches.retry(dispatchId)).toMatchObject({
      retried: [],
      unplanned: [],
      dispatch: { deliveries: [{ reason: 'channel_error' }] },
    })
  })
})

describe('sandbox mode', () => {
  it('A retry in sandbox mode replans nothing', async () => {
    const own = deploys()
    const dispatchId = await accepted(own)
    const { sallyport } = own.deploy(FIXED, { sandbox: true })
    const before = await sallyport.dispatches.get(dispatchId)
    expect(await sallyport.dispatches.retry(dispatchId)).toEqual({ retried: [], unplanned: [], dispatch: before })
  })

  it('A dispatch accepted in sandbox mode is not sent after a retry by a live host', async () => {
    const own = deploys()
    const dispatchId = await accepted(own, BROKEN, { sandbox: true })
    const { sallyport } = own.deploy(FIXED)
    const retried = await sallyport.dispatches.retry(dispatchId)
    expect(ends(retried?.dispatch ?? { deliveries: [] })).toEqual(['a: skipped sandboxed'])
    await sallyport.worker.runDue()
    expect(own.channels.a.sent).toEqual([])
  })
})

describe('the source of an event', () => {
  it('The source of an event is stored only while a host failure is left', async () => {
    const own = deploys()
    const failed = await accepted(own)
    const { sallyport } = own.deploy(FIXED)
    const { dispatchId } = took(await sallyport.dispatch(EVENT))
    expect(await own.memory.findReplannable('default', dispatchId)).toBeUndefined()
    expect(await own.memory.findReplannable('default', failed)).toMatchObject({
      source: { eventData: { code: 'canary-7' } },
    })
    await sallyport.dispatches.retry(failed)
    expect(await own.memory.findReplannable('default', failed)).toBeUndefined()
  })

  it('The source of an event is in no answer, hook or log line', async () => {
    const own = deploys()
    const seen: unknown[] = []
    const see = (event: unknown): void => void seen.push(event)
    const hooks = { onAccepted: see, onFailed: see, onSkipped: see, onSent: see }
    const { sallyport, logger } = own.deploy(BROKEN, { hooks })
    const options = { idempotencyKey: 'k' }
    const answer = took(await sallyport.dispatch(EVENT, options))
    const { dispatchId } = answer
    const { dispatches } = sallyport
    seen.push(answer, await dispatches.get(dispatchId), await dispatches.list(), await dispatches.retry(dispatchId))
    await own.deploy(FIXED, { hooks }).sallyport.dispatches.retry(dispatchId)
    const replayed = took(await sallyport.dispatch(EVENT, options))
    expect(replayed).toEqual({ ...answer, duplicate: true })
    seen.push(await dispatches.cancel(dispatchId), logger.lines)
    expect(JSON.stringify(seen)).not.toContain('canary')
  })
})

describe('interrupted and concurrent retries', () => {
  /** A store whose first replan throws, before or after it is done. */
  const failingOnce = (store: DispatchStore, isDone: boolean): DispatchStore => {
    let isArmed = true
    return {
      ...store,
      async replan(...of) {
        if (!isArmed) return store.replan(...of)
        isArmed = false
        if (isDone) await store.replan(...of)
        throw new Error('the connection is gone')
      },
    }
  }

  it.each([false, true])(
    'A retry whose replan throws can be repeated and sends once, with the replan done: %s',
    async (isDone) => {
      const own = deploys()
      const dispatchId = await accepted(own)
      const store = { ...own.memory, ...failingOnce(own.memory, isDone) }
      const { sallyport } = own.deploy(FIXED, { store })
      await expect(sallyport.dispatches.retry(dispatchId)).rejects.toThrow('gone')
      await sallyport.dispatches.retry(dispatchId)
      await sallyport.worker.runDue()
      expect(own.channels.a.sent).toHaveLength(1)
      expect((await sallyport.dispatches.get(dispatchId))?.status).toBe('sent')
    },
  )

  it('Concurrent retries replan a delivery once, and it is sent once', async () => {
    const own = deploys()
    const dispatchId = await accepted(own)
    const hosts = [1, 2, 3].map(() => own.deploy(FIXED).sallyport)
    const done = await Promise.all([...hosts, ...hosts].map((host) => host.dispatches.retry(dispatchId)))
    expect(done.flatMap((one) => one?.retried ?? [])).toHaveLength(1)
    await hosts[0]?.worker.runDue()
    expect(own.channels.a.sent).toHaveLength(1)
  })

  it('A retry replans the rest after a concurrent retry by a partly broken deploy', async () => {
    const events = (a: () => string, b: () => string) => {
      return defineEvents({ reset: { channels: { a: { text: a }, b: { text: b } } } })
    }
    const own = deploys()
    const dispatchId = await accepted(own, events(broken, broken))
    const half = own.deploy(events(() => 'x', broken)).sallyport
    const whole = own.deploy(
      events(
        () => 'x',
        () => 'x',
      ),
    ).sallyport
    await Promise.all([half.dispatches.retry(dispatchId), whole.dispatches.retry(dispatchId)])
    expect(ends((await whole.dispatches.get(dispatchId)) ?? { deliveries: [] })).toEqual(['a: queued', 'b: queued'])
  })

  it('A retry throws when the store answers every replan with a conflict', async () => {
    const own = deploys()
    const dispatchId = await accepted(own)
    const store = { ...own.memory, replan: async () => ({ outcome: 'conflict' }) as const }
    await expect(own.deploy(FIXED, { store }).sallyport.dispatches.retry(dispatchId)).rejects.toThrow('10 times')
  })
})

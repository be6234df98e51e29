import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { SallyportError } from '../../src/errors.ts'
import type { Plugin, PluginCore } from '../../src/plugins/plugin.ts'
import type { DeliveryPolicy, PolicyQuestion, SendLimit, Verdict } from '../../src/ports/delivery-policy.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { handled } from '../support/handled.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { composed } from './composed.ts'

const ADA = 'ada@example.com'
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const events = defineEvents({
  e: { channels: { a: { text: () => 'hello' } } },
  urgent: { critical: true, channels: { a: {} } },
  later: { delayMs: 5 * MINUTE, channels: { a: {} } },
})

const SEND: Verdict = { verdict: 'send' }
const SKIP: Verdict = { verdict: 'skip', reason: 'opted_out' }
const THROTTLE: Verdict = { verdict: 'skip', reason: 'throttled' }

/** Notes that it was asked. */
function giving(verdict: Verdict, name = '', asked: string[] = []): DeliveryPolicy {
  return {
    decide() {
      asked.push(name)
      return verdict
    },
  }
}

const plugin = (policy: unknown, name = 'own'): Plugin => ({
  name,
  setup: () => ({ policy: policy as DeliveryPolicy }),
})

function host(
  plugins: readonly Plugin[],
  more: Omit<Partial<SallyportOptions<unknown>>, 'clock'> & { readonly clock?: FakeClock } = {},
) {
  const a = recordingChannel()
  const errors: unknown[] = []
  const hooks: SallyportOptions<unknown>['hooks'] = {
    onError: (error, { operation }) => void errors.push([operation, error]),
  }
  const app = composed<unknown>(events, { plugins, hooks, channels: { a }, ...more })
  const dispatch = async (eventType = 'e'): Promise<string> => {
    const answer = await app.sallyport.dispatch({ eventType, recipient: ADA })
    return answer.ok ? answer.body.dispatchId : `${answer.status} ${answer.body.code}`
  }
  const deliveryOf = async (id: string) => (await app.sallyport.dispatches.get(id))?.deliveries[0]
  const send = async (eventType?: string) => {
    const id = await dispatch(eventType)
    await app.sallyport.worker.runDue()
    return deliveryOf(id)
  }
  return { ...app, a, errors, dispatch, deliveryOf, send }
}

/** Lets time pass, less than a lease, until the promise settles. */
async function passing<T>(clock: FakeClock, pending: Promise<T>): Promise<T> {
  let isSettled = false
  const settled = pending.finally(() => {
    isSettled = true
  })
  for (let seconds = 0; seconds < 15 && !isSettled; seconds++) {
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    clock.advance(1_000)
  }
  return settled
}

describe('the policy of a plugin', () => {
  it('A message that it skips is not sent, and the policy of the host is not asked', async () => {
    const asked: string[] = []
    const { send, a } = host([plugin(giving(SKIP, 'own', asked))], { policy: giving(THROTTLE, 'host', asked) })
    expect(await send()).toMatchObject({ status: 'skipped', reason: 'opted_out' })
    expect([a.sent, asked]).toEqual([[], ['own']])
  })

  it('A message that it sends is one about which the policy of the host decides', async () => {
    const asked: string[] = []
    const own = plugin(giving(SEND, 'own', asked))
    expect(await host([own], { policy: giving(THROTTLE, 'host', asked) }).send()).toMatchObject({
      status: 'skipped',
      reason: 'throttled',
    })
    expect(asked).toEqual(['own', 'host'])
    const { send, a } = host([own])
    expect(await send()).toMatchObject({ status: 'sent' })
    expect(a.sent).toMatchObject([{ content: { text: 'hello' } }])
  })

  it('It is asked about critical events too, and the question tells it', async () => {
    const questions: PolicyQuestion[] = []
    const decide = (question: PolicyQuestion): Verdict => {
      questions.push(question)
      return SEND
    }
    const { dispatch, clock } = host([plugin({ decide })])
    await dispatch()
    await dispatch('urgent')
    const of = { tenant: 'default', channel: 'a', recipient: { id: ADA, email: ADA }, at: clock.now() }
    expect(questions).toEqual([
      { ...of, eventType: 'e', category: 'e', critical: false },
      { ...of, eventType: 'urgent', category: 'urgent', critical: true },
    ])
  })

  it('Policies of plugins are asked in the order of the plugins, and the first skip holds', async () => {
    const asked: string[] = []
    const { send } = host(
      [
        plugin(giving(SEND, 'one', asked), 'one'),
        { name: 'none', setup: () => ({}) },
        plugin(giving(THROTTLE, 'two', asked), 'two'),
        plugin(giving(SKIP, 'three', asked), 'three'),
      ],
      { policy: giving(SKIP, 'host', asked) },
    )
    expect(await send()).toMatchObject({ status: 'skipped', reason: 'throttled' })
    expect(asked).toEqual(['one', 'two'])
  })

  const until = (clock: FakeClock, ms: number): DeliveryPolicy => {
    const end = clock.now() + ms
    return { decide: ({ at }) => (at < end ? { verdict: 'defer', until: end, for: 'quiet_hours' } : SEND) }
  }

  it.each([
    ['the plugin', 2 * HOUR, HOUR],
    ['the host', HOUR, 2 * HOUR],
  ])('Of two deferrals the later one counts: that of %s', async (_, own, ofHost) => {
    const clock = fakeClock()
    const { sallyport, send, a } = host([plugin(until(clock, own))], { clock, policy: until(clock, ofHost) })
    expect(await send()).toMatchObject({
      status: 'queued',
      waiting: { for: 'quiet_hours', until: new Date(clock.now() + 2 * HOUR).toISOString() },
    })
    clock.advance(2 * HOUR - 1)
    await sallyport.worker.runDue()
    expect(a.sent).toEqual([])
    clock.advance(1)
    await sallyport.worker.runDue()
    expect(a.sent).toHaveLength(1)
  })

  const limit = (key: string, max: number): SendLimit => ({ key, max, windowMs: HOUR })
  it.each([
    ['of the plugin', 1, 5],
    ['of the host', 5, 1],
    ['of both', 1, 1],
  ])('Limits of both are counted, and one that is spent skips the next message: %s', async (_, own, ofHost) => {
    const limits = (key: string, max: number): DeliveryPolicy => giving({ ...SEND, limits: [limit(key, max)] })
    const { send, clock } = host([plugin(limits('own', own))], { policy: limits('host', ofHost) })
    expect(await send()).toMatchObject({ status: 'sent' })
    expect(await send()).toMatchObject({ status: 'skipped', reason: 'throttled' })
    clock.advance(HOUR + 1)
    expect(await send()).toMatchObject({ status: 'sent' })
  })
})

const down = new Error('down')
const failing = (): never => {
  throw down
}
const hangs = 'decide() of the policy of the plugin own did not answer within 5 s'
const FAILURES: readonly (readonly [string, () => unknown, unknown])[] = [
  ['throws', failing, down],
  ['rejects', () => Promise.reject(down), down],
  ['hangs', () => new Promise(() => {}), { code: 'no_answer', message: hangs }],
  ...[undefined, null, true, {}, { verdict: 'maybe' }, { verdict: 'skip', reason: 'no' }, { verdict: 'defer' }].map(
    (verdict): (typeof FAILURES)[number] => [
      `returns ${JSON.stringify(verdict)}`,
      () => verdict,
      {
        code: 'answer_invalid',
        message: expect.stringMatching(/^decide\(\) of the policy of the plugin own returned .*; return \{ verdict/),
      },
    ],
  ),
]

describe('a policy of a plugin that fails', () => {
  it.each(FAILURES)('A dispatch is refused if one %s, and the error is reported', async (_, decide, error) => {
    const plugins = [plugin(giving(SEND), 'other'), plugin({ decide })]
    const { sallyport, dispatch, clock, logger, errors, a } = host(plugins, { policy: giving(SEND) })
    expect(await passing(clock, dispatch())).toBe('503 policy_unavailable')
    const cause = error === down ? 'Error' : Reflect.get(Object(error), 'message')
    expect(logger.lines).toMatchObject([{ event: 'request.failed', fields: { code: 'policy_unavailable', cause } }])
    expect(errors).toMatchObject([['policy', error]])
    await sallyport.worker.runDue()
    expect([(await sallyport.dispatches.list()).items, a.sent]).toEqual([[], []])
  })

  it('One that hangs is given up after five seconds', async () => {
    const { dispatch, clock } = host([plugin({ decide: () => new Promise(() => {}) })])
    let answer = ''
    const dispatched = dispatch().then((given) => {
      answer = given
    })
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    clock.advance(4_999)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    expect(answer).toBe('')
    clock.advance(1)
    await dispatched
    expect(answer).toBe('503 policy_unavailable')
  })

  it.each(FAILURES.slice(0, 4))(
    'A deferred delivery waits while one %s, and is sent afterwards',
    async (_, decide, error) => {
      let isBroken = false
      const own = plugin({ decide: () => (isBroken ? decide() : SEND) })
      const { sallyport, dispatch, deliveryOf, clock, logger, errors, a } = host([own])
      const id = await dispatch('later')
      clock.advance(5 * MINUTE)
      isBroken = true
      await passing(clock, sallyport.worker.runDue())
      expect(a.sent).toEqual([])
      expect(await deliveryOf(id)).toMatchObject({ status: 'queued', attempts: 0, waiting: { for: 'unavailable' } })
      const line = { level: 'error', event: 'delivery.policy_unavailable' }
      const cause = error === down ? 'Error' : Reflect.get(Object(error), 'message')
      expect(logger.lines[0]).toMatchObject({ ...line, fields: { dispatchId: id, cause } })
      expect(errors).toMatchObject([['policy', error]])

      isBroken = false
      clock.advance(MINUTE)
      await sallyport.worker.runDue()
      expect(await deliveryOf(id)).toMatchObject({ status: 'sent', attempts: 1 })
    },
  )

  it('A further attempt asks again, and a skip ends the delivery', async () => {
    let verdict: Verdict = SEND
    const a = recordingChannel([{ outcome: 'retry', code: 'busy' }])
    const { sallyport, send, clock } = host([plugin({ decide: () => verdict })], { channels: { a } })
    expect(await send()).toMatchObject({ status: 'queued', attempts: 1 })
    verdict = SKIP
    clock.advance(MINUTE)
    await sallyport.worker.runDue()
    expect((await sallyport.dispatches.list()).items[0]?.deliveries).toMatchObject([
      { status: 'skipped', reason: 'opted_out' },
    ])
    expect(a.sent).toHaveLength(1)
  })
})

describe('where policies of plugins are asked', () => {
  it('Dry runs, plans of a plugin and the sandbox ask them', async () => {
    let core: PluginCore | undefined
    const asking: Plugin = {
      name: 'own',
      setup(given) {
        core = given
        return { policy: giving(SKIP) }
      },
    }
    const skipped = [{ channel: 'a', status: 'skipped', reason: 'opted_out' }]
    const event = { eventType: 'e', recipient: ADA }
    const { sallyport } = host([asking])
    const dryRun = { headers: {}, body: event, query: { dryRun: 'true' } }
    expect(await handled(sallyport.endpoints, 'dispatch', { id: 'app', tenant: 'default' }, dryRun)).toMatchObject({
      ...{ status: 200, body: { dryRun: true, deliveries: skipped } },
    })
    expect(await core?.plan?.('default', event)).toMatchObject({ preview: { deliveries: skipped } })
    expect(await host([asking], { sandbox: true }).send()).toMatchObject({ status: 'skipped', reason: 'opted_out' })
  })
})

/** The problems of a start, as `field detail`. */
function refused(policy: unknown): readonly string[] {
  try {
    host([plugin(policy)])
  } catch (error) {
    return (error as SallyportError).problems.map(({ field, detail }) => `${field} ${detail}`)
  }
  return []
}

describe('a start', () => {
  it('Names of a policy that are not there stop it', () => {
    const named = (names: object): object => ({ ...giving(SEND), names })
    expect(refused(named({ channels: ['a'], events: ['e'] }))).toEqual([])
    expect(refused(named({ channels: ['a', 'fax'], events: ['latr'] }))).toEqual([
      'plugins.own.policy.channels "fax" is not there; near: a',
      'plugins.own.policy.events "latr" is not there; near: later',
    ])
  })

  it.each([5, null, 'skip', {}, { decide: true }, () => SEND])('A policy without decide() stops it: %o', (policy) => {
    expect(refused(policy)).toEqual([expect.stringMatching(/^plugins\.own\.policy .*decide/)])
  })
})

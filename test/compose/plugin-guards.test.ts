import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { handleDispatchWithDefaults } from '../../src/compose/defaults.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { liquid } from '../../src/engines/liquid.ts'
import type { SallyportError } from '../../src/errors.ts'
import type { Plugin, PluginParts } from '../../src/plugins/plugin.ts'
import type { MessageGuard } from '../../src/ports/message-guard.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { APP, countingIds, recordingLogger, testAuth, testDeps } from '../support/deps.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const ADA = 'ada@example.com'
const EVENTS = defineEvents(
  {
    plain: { channels: { email: { text: () => 'Hi' } } },
    invited: { channels: { email: { text: 'Join: {{ links.join }}' } } },
  },
  { templates: liquid() },
)

const plugin = (parts: PluginParts, name = 'own'): Plugin => ({ name, setup: () => parts })
const join = plugin({ links: { join: () => 'https://app.example/join' } }, 'joining')

function host(plugins: readonly Plugin[], more: object = {}) {
  const clock = fakeClock()
  const logger = recordingLogger()
  const email = recordingChannel()
  const sallyport = createSallyport<unknown>({
    ...{ auth: testAuth, events: EVENTS, store: memoryStore({ clock }), clock, logger, ids: countingIds() },
    ...{ channels: { email }, plugins: [...plugins, join] },
    ...more,
  })
  const send = async (eventType = 'plain'): Promise<string> => {
    const answer = await sallyport.dispatch({ eventType, recipient: ADA })
    if (!answer.ok) return `${answer.status} ${answer.body.code}`
    await sallyport.worker.runDue()
    return answer.body.dispatchId
  }
  const deliveryOf = async (id: string) => (await sallyport.dispatches.get(id))?.deliveries[0]
  return { sallyport, clock, logger, email, send, deliveryOf }
}

/** Lets time pass, less than a lease, until the promise settles. */
async function passing<T>(clock: FakeClock, pending: Promise<T>): Promise<T> {
  let isSettled = false
  const settled = pending.finally(() => {
    isSettled = true
  })
  for (let seconds = 0; seconds < 15 && !isSettled; seconds++) {
    await setImmediate()
    clock.advance(1_000)
  }
  return settled
}

const asking = (answers: readonly unknown[], asked: unknown[] = []): MessageGuard => ({
  async check(message) {
    asked.push(message)
    return answers[asked.length - 1] as never
  },
})

describe('the guards of plugins', () => {
  it('Guards are asked in the order of the plugins, and the first objection holds', async () => {
    const asked: unknown[] = []
    const { send, deliveryOf, email } = host([
      plugin({ guard: asking([undefined]) }, 'one'),
      plugin({ guard: asking(['opted_out'], asked) }, 'two'),
      plugin({ guard: asking(['suppressed']) }, 'three'),
    ])
    expect(await deliveryOf(await send())).toMatchObject({ status: 'skipped', reason: 'opted_out', attempts: 0 })
    expect(email.sent).toEqual([])
    const of = { tenant: 'default', eventType: 'plain', category: 'plain', critical: false, channel: 'email' }
    expect(asked).toEqual([{ ...of, address: ADA, recipient: ADA }])
  })

  it('A guard that objects only before the attempt skips the delivery, which counts no attempt', async () => {
    const { send, deliveryOf, email } = host([plugin({ guard: asking([undefined, 'suppressed']) })])
    expect(await deliveryOf(await send())).toMatchObject({ status: 'skipped', reason: 'suppressed', attempts: 0 })
    expect(email.sent).toEqual([])
  })

  const down = new Error('down')
  it.each<[string, () => unknown, string]>([
    ['throws', () => Promise.reject(down), 'Error'],
    [
      'throws at once',
      () => {
        throw down
      },
      'Error',
    ],
    ['hangs', () => new Promise(() => {}), 'check() of the guard of the plugin own did not answer within 5 s'],
    [
      'returns null',
      async () => null,
      "check() of the guard of the plugin own returned null; return 'suppressed', 'opted_out' or undefined",
    ],
    [
      'returns false',
      async () => false,
      "check() of the guard of the plugin own returned a boolean; return 'suppressed', 'opted_out' or undefined",
    ],
  ])('A guard that %s refuses a dispatch, and before an attempt puts the delivery back', async (_, answer, cause) => {
    let isBroken = true
    const guard = { check: async () => (isBroken ? (answer() as never) : undefined) }
    const { sallyport, send, deliveryOf, clock, logger, email } = host([plugin({ guard })])
    expect(await passing(clock, send())).toBe('503 guard_unavailable')
    expect(logger.lines.at(-1)).toMatchObject({ event: 'request.failed', fields: { cause } })
    expect((await sallyport.dispatches.list()).items).toEqual([])

    isBroken = false
    const accepted = await sallyport.dispatch({ eventType: 'plain', recipient: ADA })
    const id = accepted.ok && 'dispatchId' in accepted.body ? accepted.body.dispatchId : ''
    isBroken = true
    await passing(clock, sallyport.worker.runDue())
    expect(email.sent).toEqual([])
    expect(await deliveryOf(id)).toMatchObject({ status: 'queued', attempts: 0, waiting: { for: 'unavailable' } })
    const line = logger.lines.find(({ event }) => event === 'delivery.guard_unavailable')
    expect(line).toMatchObject({ level: 'error', fields: { dispatchId: id, cause } })

    isBroken = false
    clock.advance(30_000)
    await sallyport.worker.runDue()
    expect(await deliveryOf(id)).toMatchObject({ status: 'sent', attempts: 1 })
  })

  it.each<[string, () => Promise<void>]>([
    ['throws', () => Promise.reject(down)],
    ['hangs', () => new Promise(() => {})],
  ])('A guard whose learned() %s is logged, and the refusal is stored', async (_, learned) => {
    const email = recordingChannel([{ outcome: 'rejected', code: 'gone', suppress: 'bounced' }])
    const { sallyport, clock, logger } = host([plugin({ guard: { ...asking([]), learned } })], { channels: { email } })
    await sallyport.dispatch({ eventType: 'plain', recipient: ADA })
    await passing(clock, sallyport.worker.runDue())
    const [one] = (await sallyport.dispatches.list()).items
    expect(one?.deliveries).toMatchObject([{ status: 'failed', reason: 'provider_rejected', lastCode: 'gone' }])
    expect(logger.lines.map(({ event }) => event)).toContain('delivery.suppress_failed')
  })

  it('Every guard learns of a refused address, also after one that throws at once', async () => {
    const learned: string[] = []
    const email = recordingChannel([{ outcome: 'rejected', code: 'gone', suppress: 'bounced' }])
    const telling = (name: string, act: () => void) => {
      const hear: NonNullable<MessageGuard['learned']> = ({ address }) => {
        act()
        learned.push(`${name} ${address}`)
        return Promise.reject(down)
      }
      return plugin({ guard: { ...asking([]), learned: hear } }, name)
    }
    const throwing = (): never => {
      throw down
    }
    const guards = [telling('one', () => {}), telling('two', throwing), telling('three', () => {})]
    const { sallyport, logger } = host(guards, { channels: { email } })
    await sallyport.dispatch({ eventType: 'plain', recipient: ADA })
    await sallyport.worker.runDue()
    await setImmediate()
    expect(learned).toEqual([`one ${ADA}`, `three ${ADA}`])
    expect(logger.lines.filter(({ event }) => event === 'delivery.suppress_failed')).toHaveLength(1)
  })

  it('handleDispatch takes a guard as a port, with the same limit', async () => {
    const deps = testDeps({ a: recordingChannel() }, { events: defineEvents({ e: { channels: { a: {} } } }) })
    const request = { headers: APP, body: { eventType: 'e', recipient: ADA } }
    const asked = handleDispatchWithDefaults(request, { ...deps, guard: { check: () => new Promise(() => {}) } })
    expect(await passing(deps.clock, asked)).toMatchObject({ status: 503, body: { code: 'guard_unavailable' } })
    const skipped = await handleDispatchWithDefaults(request, { ...deps, guard: asking(['suppressed']) })
    expect(skipped).toMatchObject({ status: 202, body: { deliveries: [{ reason: 'suppressed' }] } })
  })
})

describe('the links of plugins', () => {
  it('Links of several plugins are filled when a message is sent', async () => {
    const { send, email } = host([plugin({ links: { leave: () => 'https://app.example/leave' } })])
    await send('invited')
    expect(email.sent).toMatchObject([
      {
        content: { text: 'Join: https://app.example/join' },
        links: { join: 'https://app.example/join', leave: 'https://app.example/leave' },
      },
    ])
  })

  it('A maker that hangs sends nothing, and the attempt is repeated', async () => {
    let isBroken = true
    const links = { leave: () => (isBroken ? new Promise<string>(() => {}) : 'https://app.example/leave') }
    const { sallyport, send, deliveryOf, email, clock, logger } = host([plugin({ links })])
    const id = await passing(clock, send())
    expect(email.sent).toEqual([])
    expect(logger.lines.find(({ event }) => event === 'channel.threw')?.fields).toMatchObject({
      cause: 'links.leave() of the plugin own did not answer within 5 s',
    })
    isBroken = false
    clock.advance(60_000)
    await sallyport.worker.runDue()
    expect(await deliveryOf(id)).toMatchObject({ status: 'sent', attemptLog: [{ code: 'channel_error' }, {}, {}] })
  })
})

/** The problems of a start, as `place detail`. */
function refused(plugins: readonly Plugin[], more: object = {}): readonly string[] {
  try {
    host(plugins, more)
  } catch (error) {
    return (error as SallyportError).problems.map(({ event, channel, field, detail }) =>
      [event, channel, field, detail].filter(Boolean).join(' '),
    )
  }
  return []
}

describe('a start', () => {
  it.each<[string, PluginParts, readonly string[]]>([
    ['a guard without check', { guard: {} as never }, ['plugins.own.guard.check is undefined; must be a function']],
    [
      'a link that is no function',
      { links: { a: 'x' as never } },
      ['plugins.own.links.a is a string; must be a function'],
    ],
    [
      'a link with a bad name',
      { links: { 'off-now': () => '' } },
      ['plugins.own.links "off-now" must be 1-32 letters and digits, a lower-case letter first'],
    ],
    ['a link of another plugin', { links: { join: () => '' } }, ['plugins.joining.links "join" is a link of own too']],
    [
      'a link that begins as another',
      { links: { joinNow: () => '' } },
      ['plugins.joining.links "join" begins as the link joinNow of own does'],
    ],
    [
      'an unknown cause of fallbacks',
      { fallbackOn: ['opened'] as never },
      ['plugins.own.fallbackOn[0] is "opened"; must be one of bounced'],
    ],
  ])('with %s is refused', (_, parts, problems) => {
    expect(refused([plugin(parts)])).toEqual(problems)
  })

  it('An event that reads a link that nobody makes is refused, with each place', () => {
    const events = defineEvents(
      {
        news: {
          channels: {
            email: {
              text: 'Off: {{ links.unsubscribe }}',
              locales: { de: { text: '{% if links.joim %}{{ links.join }}{% endif %}' } },
            },
          },
        },
      },
      { templates: liquid() },
    )
    expect(refused([], { events })).toEqual([
      'news email text reads "links.unsubscribe", which no plugin makes; consent({ keys }) does, in a host with the option links: { baseUrl, keys }',
      'news email locales.de.text reads "links.joim", which no plugin makes; near: join',
    ])
  })

  it('An event that falls back on reports that nobody gets is refused', () => {
    const events = defineEvents({ e: { route: 'first', fallbackOn: ['bounced'], channels: { email: {} } } })
    expect(refused([], { events })).toEqual([
      'e fallbackOn no plugin gets reports of bounced; consent({ keys, feedback: { ses: ses(…) } }) does',
    ])
    expect(refused([plugin({ fallbackOn: ['bounced'] })], { events })).toEqual([])
  })
})

import { createSallyport, defineEvents, type Sallyport, type SallyportOptions } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { failover } from 'sallyport/channels/failover'
import { type ConsentApi, consent } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'
import { describe, expect, it } from 'vitest'
import { POSTS } from '../../../src/actions/table.ts'
import { inbox, transportTo } from '../../channels/letters.ts'
import { countingIds, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { handled } from '../../support/handled.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { KEY } from './consenting.ts'

const JANE = 'jane@example.com'
const CLERK = 'clerk@example.com'
const VICTIM = 'victim@other.example'
const GRANT = { events: ['order'], channels: ['email'], recipients: [JANE, CLERK] }

const events = defineEvents({
  order: {
    channels: {
      email: {
        subject: () => 'Shipped',
        text: () => 'On its way',
        cc: ({ data }) => Object(data).cc ?? [],
        bcc: ({ data }) => Object(data).bcc ?? [],
      },
    },
  },
})

/** A host that sends by SMTP. The token `app` is an application's, `agent` has a grant of two recipients. */
async function mailHost(options: Partial<SallyportOptions<unknown>> = {}) {
  const { port, recipients } = await inbox()
  const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
  const logger = recordingLogger()
  const mail = email(transportTo(port), { from: 'shop@example.com', retrySchedule: [1_000] })
  const sallyport = createSallyport<unknown>({
    auth: {
      verify: async (token) =>
        token === 'app'
          ? { id: 'app', tenant: 'default' }
          : { id: 'agent', tenant: 'default', sessionId: 's1', dispatch: GRANT },
    },
    ...{ events, store: memoryStore({ clock }), clock, logger, ids: countingIds() },
    channels: { email: mail },
    plugins: [consent({ keys: [KEY] })],
    ...options,
  }) as Sallyport<unknown> & ConsentApi
  const post = async (token: string, eventData: object): Promise<string> => {
    const body = { eventType: 'order', recipient: JANE, eventData }
    const principal = await sallyport.endpoints.authenticate({ authorization: `Bearer ${token}` }, POSTS.dispatch)
    const answer = await handled(sallyport.endpoints, 'dispatch', principal as never, { headers: {}, body } as never)
    await sallyport.worker.runDue()
    return `${answer.status} ${Object(answer.body).code ?? Object(answer.body).dispatchId}`
  }
  return { sallyport, recipients, clock, logger, post }
}

describe('the copies of a session token', () => {
  it.each<[string, object]>([
    ['a granted recipient', { cc: CLERK }],
    ['granted recipients by name, once in each field', { cc: [`Clerk <${CLERK}>`], bcc: { address: CLERK } }],
    ['the recipient', { bcc: JANE }],
    ['nobody', { cc: [], bcc: '' }],
  ])('may go to %s', async (_, eventData) => {
    const { post, recipients } = await mailHost()
    expect(await post('agent', eventData)).toBe('202 dsp_1')
    expect(recipients).toContain(JANE)
    expect(recipients.filter((to) => !GRANT.recipients.includes(to))).toEqual([])
  })

  it.each<[string, object]>([
    ['a stranger', { cc: VICTIM }],
    ['a stranger beside a granted recipient', { cc: [CLERK, `Clerk <${VICTIM}>`] }],
    ['a hidden stranger', { bcc: VICTIM }],
    ['a stranger as an object', { bcc: [{ name: 'Clerk', address: VICTIM }] }],
    ['fifty hidden strangers', { bcc: Array.from({ length: 50 }, (__, at) => `v${at}@other.example`) }],
    ['a granted recipient in another letter case', { cc: 'Clerk@example.com' }],
  ])('are refused to %s, and nothing is stored', async (_, eventData) => {
    const { post, recipients, sallyport } = await mailHost()
    expect(await post('agent', eventData)).toBe('403 insufficient_scope')
    expect(recipients).toEqual([])
    expect((await sallyport.dispatches.list()).items).toEqual([])
  })

  it.each<[string, object]>([
    ['an address with a comment', { cc: `${VICTIM} (clerk)` }],
    ['a group', { cc: `Team: ${CLERK}, ${VICTIM};` }],
    ['two addresses in one text', { bcc: `${CLERK}, ${VICTIM}` }],
    ['a thousand objects', { cc: Array.from({ length: 1_000 }, () => ({ address: VICTIM })) }],
    ['a line break', { cc: `${CLERK}\r\nBcc: ${VICTIM}` }],
    ['a number', { cc: 7 }],
  ])('reach nobody as %s', async (_, eventData) => {
    const { post, recipients } = await mailHost()
    expect(await post('agent', eventData)).toBe('202 dsp_1')
    expect(recipients).toEqual([])
  })

  it('of an application are free', async () => {
    const { post, recipients } = await mailHost()
    expect(await post('app', { cc: VICTIM })).toBe('202 dsp_1')
    expect(recipients).toEqual([JANE, VICTIM])
  })
})

describe('a suppressed copy', () => {
  it('is left out of the message, and the attempt says so', async () => {
    const { post, recipients, sallyport } = await mailHost()
    await sallyport.suppressions.add({ channel: 'email', address: VICTIM, reason: 'complained' })
    expect(await post('app', { cc: [VICTIM, CLERK], bcc: VICTIM })).toBe('202 dsp_1')
    expect(recipients).toEqual([JANE, CLERK])
    const [one] = (await sallyport.dispatches.get('dsp_1'))?.deliveries ?? []
    expect(one).toMatchObject({ status: 'sent', attemptLog: [{ outcome: 'sent', omittedCopies: 1 }] })
  })

  it('is left out of the next attempt when a complaint came after the first one', async () => {
    const omitted: unknown[] = []
    const a = recordingChannel(
      [
        async ({ omittedCopies }) => {
          omitted.push(omittedCopies)
          return { outcome: 'retry', code: 'busy' }
        },
      ],
      { copies: ({ cc }) => [String(cc)], retrySchedule: [1_000, 1_000] },
    )
    const { post, sallyport, clock } = await mailHost({
      channels: { email: failover({ a, b: recordingChannel([{ outcome: 'retry', code: 'busy' }]) }) },
    })
    await post('app', { cc: VICTIM })
    await sallyport.suppressions.add({ channel: 'email', address: VICTIM, reason: 'complained' })
    clock.advance(60_000)
    await sallyport.worker.runDue()
    expect(omitted).toEqual([undefined, [VICTIM]])
  })

  it.each<[string, (() => never) | (() => unknown)]>([
    [
      'throws',
      () => {
        throw new Error('no list')
      },
    ],
    ['returns a text', () => VICTIM],
    ['returns a list with a hole', () => [undefined]],
    ['returns a promise', async () => [VICTIM]],
  ])('of a channel whose copies() %s is never sent', async (_, copies) => {
    const broken = recordingChannel(undefined, { copies: copies as never, retrySchedule: [] })
    const { post, sallyport, logger } = await mailHost({ channels: { email: broken } })
    await post('app', {})
    await post('agent', {})
    expect(broken.sent).toEqual([])
    const { items } = await sallyport.dispatches.list()
    expect(items.map(({ deliveries: [one] }) => `${one?.status} ${one?.reason}`)).toEqual(
      Array(2).fill('failed channel_error'),
    )
    expect(logger.lines.filter(({ event }) => event === 'channel.threw')).toHaveLength(2)
  })
})

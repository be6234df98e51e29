import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { mailgunRequest } from '../../feedback/signers.ts'
import { about, type ConsentApp, consentApp, HOUR_MS, overHttp } from './consenting.ts'

const channels = { email: { text: () => 'Hi' }, chat: { text: () => 'Hi' } }
const events = defineEvents({
  first: { route: 'first', fallbackOn: ['bounced'], channels },
  plain: { route: 'first', channels },
  chatFirst: { route: 'first', fallbackOn: ['bounced'], channels: { chat: channels.chat, email: channels.email } },
})
const UNNEEDED = ['sent', 'skipped fallback_unneeded']

function app(more: Parameters<typeof consentApp>[0] = {}): ConsentApp {
  return consentApp({ ...more, rest: { events, ...more.rest } })
}

function bounce(deliveryId: string | undefined, more: object = {}): object {
  return { type: 'email.bounced', data: about(deliveryId, { bounce: { type: 'Permanent' }, ...more }) }
}

describe('a fallback after a bounce', () => {
  it('After a bounce the next channel is sent, once', async () => {
    const { report, send, outcomes, email, chat, sallyport, logger } = app()
    const id = await send('first')
    expect(await outcomes(id)).toEqual(UNNEEDED)
    const { deliveryId } = email.sent[0] ?? {}
    for (let repeats = 0; repeats < 3; repeats++) {
      expect((await report(bounce(deliveryId))).status).toBe(200)
      await sallyport.worker.runDue()
    }
    expect(await outcomes(id)).toEqual(['sent', 'sent'])
    expect(chat.sent).toHaveLength(1)
    const lines = logger.lines.filter(({ event }) => event === 'delivery.fell_back')
    expect(lines.map(({ fields }) => fields)).toEqual([
      { dispatchId: id, deliveryId, eventType: 'first', channel: 'chat' },
    ])
  })

  it('A bounce that is not permanent makes it continue too', async () => {
    const { report, send, outcomes, email, sallyport } = app()
    const id = await send('first')
    await report({ type: 'email.bounced', data: about(email.sent[0]?.deliveryId, { bounce: { type: 'Transient' } }) })
    await sallyport.worker.runDue()
    expect(await outcomes(id)).toEqual(['sent', 'sent'])
  })

  it('An event without fallbackOn, another report, and a bounce of a copy change nothing', async () => {
    const { report, send, outcomes, email } = app()
    const plain = await send('plain')
    await report(bounce(email.sent[0]?.deliveryId))
    expect(await outcomes(plain)).toEqual(UNNEEDED)
    const first = await send('first', 'grace@example.com')
    const { deliveryId } = email.sent[1] ?? {}
    await report({ type: 'email.delivered', data: about(deliveryId) })
    await report(bounce(deliveryId, { to: ['copy@example.com'] }))
    expect(await outcomes(first)).toEqual(UNNEEDED)
    await report(bounce(deliveryId, { to: ['Grace@EXAMPLE.com'] }))
    expect(await outcomes(first)).toEqual(['sent', 'queued'])
  })

  it('A bounce that names a delivery of another channel changes nothing', async () => {
    const { report, send, outcomes, sallyport } = app()
    const id = await send('chatFirst')
    const { deliveryId, channel } = (await sallyport.dispatches.get(id))?.deliveries[0] ?? {}
    expect(channel).toBe('chat')
    expect((await report(bounce(deliveryId))).status).toBe(200)
    expect(await outcomes(id)).toEqual(UNNEEDED)
  })

  it('A bounce that arrives before the attempt is settled makes it continue', async () => {
    const one = app()
    const { send } = one.email
    one.email.send = async (message, context) => {
      await one.report(bounce(context.deliveryId))
      return send(message, context)
    }
    const id = await one.send('first')
    expect(await one.outcomes(id)).toEqual(['sent', 'sent'])
  })

  it('A bounce after the expiry, or of another tenant, changes nothing', async () => {
    const { report, send, outcomes, email, clock } = app({ rest: { expiresInMs: HOUR_MS } })
    const id = await send('first')
    const { deliveryId } = email.sent[0] ?? {}
    await report(bounce(deliveryId), 'resend-other')
    expect(await outcomes(id)).toEqual(UNNEEDED)
    clock.advance(HOUR_MS + 1)
    await report(bounce(deliveryId))
    expect(await outcomes(id)).toEqual(UNNEEDED)
  })

  it('A request that failed after it stored its reports continues when it is repeated', async () => {
    let failures = 1
    const one = app({
      store: (store) => ({
        ...store,
        fallBack: async (...args) => {
          if (failures-- > 0) throw new Error('gone')
          return store.fallBack(...args)
        },
      }),
    })
    const id = await one.send('first')
    const { deliveryId } = one.email.sent[0] ?? {}
    expect((await one.report(bounce(deliveryId))).status).toBe(503)
    expect(await one.outcomes(id)).toEqual(UNNEEDED)
    expect((await one.report(bounce(deliveryId))).status).toBe(200)
    expect(await one.outcomes(id)).toEqual(['sent', 'queued'])
  })

  it('A repeated proof that counts once makes nothing else continue', async () => {
    const one = app()
    const [id, other] = [await one.send('first'), await one.send('first', 'grace@example.com')]
    const [mine, theirs] = one.email.sent.map(({ deliveryId }) => deliveryId)
    const post = async (deliveryId: string | undefined, recipient: string, token: string) => {
      const variables = { 'user-variables': { sallyport_delivery_id: deliveryId } }
      const event = { event: 'failed', severity: 'permanent', id: `e-${deliveryId}`, recipient, ...variables }
      const request = await mailgunRequest(JSON.stringify(event), { token, seconds: one.clock.now() / 1_000 })
      expect((await one.fetch(overHttp('mailgun', request))).status).toBe(200)
    }
    await post(mine, 'ada@example.com', 'a'.repeat(50))
    expect(await one.outcomes(id)).toEqual(['sent', 'queued'])
    await post(theirs, 'grace@example.com', 'a'.repeat(50))
    expect(await one.outcomes(other)).toEqual(UNNEEDED)
    await post(theirs, 'grace@example.com', 'b'.repeat(50))
    expect(await one.outcomes(other)).toEqual(['sent', 'queued'])
  })

  it('The hooks get fallbacks that a limit skips', async () => {
    const skipped: string[] = []
    const one = app({
      rest: {
        policy: {
          decide: ({ channel }) => ({
            verdict: 'send',
            ...(channel === 'chat' && { limits: [{ key: 'l', max: 1, windowMs: HOUR_MS }] }),
          }),
        },
        hooks: { onSkipped: ({ channel, reason }) => void skipped.push(`${channel} ${reason}`) },
      },
    })
    for (const recipient of ['ada@example.com', 'grace@example.com']) await one.send('first', recipient)
    skipped.length = 0
    for (const { deliveryId, to } of [...one.email.sent]) await one.report(bounce(deliveryId, { to: [to] }))
    expect(skipped).toEqual(['chat throttled'])
  })

  it('Without an event that falls back, a bounce reads no dispatch', async () => {
    let reads = 0
    const one = consentApp({
      store: (store) => ({
        ...store,
        findByDelivery(...args) {
          reads++
          return store.findByDelivery(...args)
        },
      }),
    })
    await one.send('first')
    expect((await one.report(bounce(one.email.sent[0]?.deliveryId))).status).toBe(200)
    expect(reads).toBe(0)
  })

  it('fallbackOn without a source of feedback is refused at start', () => {
    const reason = /fallbackOn.*no plugin gets reports of bounced; consent\(\{ keys, feedback/
    expect(() => app({ consenting: { feedback: undefined } })).toThrow(reason)
    expect(() => app({ rest: { plugins: [] } })).toThrow(reason)
  })
})

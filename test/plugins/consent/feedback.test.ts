import { mailgun } from 'sallyport/feedback/mailgun'
import { sendgrid } from 'sallyport/feedback/sendgrid'
import { toFetch } from 'sallyport/fetch'
import { describe, expect, it } from 'vitest'
import { feedbackRecords } from '../../../src/plugins/consent/feedback-records.ts'
import { suppressionRecords } from '../../../src/plugins/consent/suppression-records.ts'
import type { FeedbackSource } from '../../../src/ports/feedback-source.ts'
import { MAILGUN_KEY, mailgunRequest, sendgridSigner } from '../../feedback/signers.ts'
import { fc, runs } from '../../support/properties.ts'
import { aroundRecords } from '../../support/records.ts'
import { ADA, about, COMPLAINT, consentApp, feedbackRequest, HARD_BOUNCE, overHttp } from './consenting.ts'

const NOW = '2027-01-15T12:00:00.000Z'

describe('feedback over HTTP', () => {
  it('A report is shown with its delivery, by delivery id and by message id', async () => {
    const app = consentApp()
    const id = await app.send('order')
    const deliveryId = app.email.sent[0]?.deliveryId
    expect((await app.report({ type: 'email.delivered', data: about(deliveryId) })).status).toBe(200)
    app.clock.advance(60_000)
    await app.report({ type: 'email.opened', data: about(undefined) })
    const feedback = [
      { kind: 'delivered', at: NOW },
      { kind: 'opened', at: '2027-01-15T12:01:00.000Z' },
    ]
    expect(await app.feedback(id)).toEqual(feedback)
    const { items } = await app.sallyport.dispatches.list()
    expect(items[0]?.deliveries[0]?.feedback).toEqual(feedback)
    expect(await app.outcomes(id)).toEqual(['sent'])
  })

  it('A report that arrives before the attempt is settled is kept and shown', async () => {
    const app = consentApp()
    const { send } = app.email
    let status = 0
    app.email.send = async (message, context) => {
      status = (await app.report({ type: 'email.delivered', data: about(context.deliveryId) })).status
      return send(message, context)
    }
    const id = await app.send('order')
    expect(status).toBe(200)
    expect(await app.feedback(id)).toEqual([{ kind: 'delivered', at: NOW }])
  })

  it('Reports in any order and with any repetitions give the same record', async () => {
    const types = ['email.delivered', 'email.opened', 'email.clicked', 'email.delivery_delayed', 'email.complained']
    const reports = fc.array(fc.record({ type: fc.constantFrom(...types), second: fc.nat(50), byId: fc.boolean() }), {
      minLength: 1,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(reports, fc.infiniteStream(fc.nat(1_000)), async (given, random) => {
        const records = []
        const repeated = [...given, ...given.filter(() => Number(random.next().value) % 2 === 0)]
        const shuffled = repeated
          .map((one) => ({ one, at: Number(random.next().value) }))
          .sort((one, other) => one.at - other.at)
          .map(({ one }) => one)
        for (const order of [given, shuffled, given.toReversed()]) {
          const app = consentApp()
          const id = await app.send('order')
          const deliveryId = app.email.sent[0]?.deliveryId
          for (const { type, second, byId } of order) {
            const created_at = new Date(Date.UTC(2027, 0, 15, 12, 0, second)).toISOString()
            await app.report({ type, created_at, data: about(byId ? deliveryId : undefined) })
          }
          const suppressed = await app.sallyport.suppressions.find({ address: ADA })
          records.push({ feedback: await app.feedback(id), suppressed: suppressed.map(({ reason }) => reason) })
        }
        expect(records[1]).toEqual(records[0])
        expect(records[2]).toEqual(records[0])
      }),
      { numRuns: runs(40) },
    )
  })

  it('A forged request is refused without detail, and stores nothing', async () => {
    const app = consentApp()
    const body = JSON.stringify({ ...COMPLAINT, created_at: NOW })
    const answer = await app.fetch(feedbackRequest('resend', body, { 'svix-id': 'a', 'svix-signature': 'v1,x' }))
    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ code: 'proof_invalid', detail: 'The request has no valid proof.' })
    expect(await app.sallyport.suppressions.find({ address: ADA })).toEqual([])
    const refusals = () => app.logger.lines.filter(({ event }) => event === 'feedback.refused').length
    await app.fetch(feedbackRequest('resend', body))
    expect(refusals()).toBe(1)
    app.clock.advance(60_000)
    await app.fetch(feedbackRequest('resend', body))
    expect(refusals()).toBe(2)
  })

  it('An unknown source is 404', async () => {
    const app = consentApp()
    expect((await app.report(COMPLAINT, 'postmark')).status).toBe(404)
    expect((await app.report(COMPLAINT, 'constructor')).status).toBe(404)
  })

  it('A body of unknown shape is stored as unknown and logged, never an error', async () => {
    const app = consentApp()
    for (const event of [{}, { type: 7 }, { type: 'email.delivered', data: [] }]) {
      expect((await app.report(event)).status).toBe(200)
    }
    const lines = app.logger.lines.filter(({ event }) => event === 'feedback.unknown_shape')
    expect(lines.length).toBeGreaterThan(0)
    expect(lines[0]?.fields).toEqual({ source: 'resend', events: 1 })
  })

  it('A body is read at the limit of its source, and refused one byte over', async () => {
    const own: FeedbackSource = {
      ...{ tenant: 'default', channel: 'email', maxBytes: 1_000 },
      receive: async ({ body }) => ({ outcome: body.byteLength === 1_000 ? 'events' : 'refused', events: [] }),
    }
    const { fetch } = consentApp({ sources: { own } })
    expect((await fetch(feedbackRequest('own', 'x'.repeat(1_000)))).status).toBe(200)
    const answer = await fetch(feedbackRequest('own', 'x'.repeat(1_001)))
    expect([answer.status, Object(await answer.json()).code]).toEqual([413, 'body_too_large'])
  })

  it('Events over the limit of a body are logged', async () => {
    const events = [{ kind: 'unknown', eventId: 'e', code: 'too_many_events' }] as const
    const app = consentApp({
      sources: { own: { tenant: 'default', channel: 'email', receive: async () => ({ outcome: 'events', events }) } },
    })
    expect((await app.fetch(feedbackRequest('own', 'x'))).status).toBe(200)
    const line = app.logger.lines.find(({ event }) => event === 'feedback.too_many_events')
    expect(line).toMatchObject({ level: 'warn', fields: { source: 'own', events: 1 } })
  })

  it('A host without feedback and links keeps the paths of these endpoints', async () => {
    const { sallyport } = consentApp({ rest: { links: undefined }, consenting: { feedback: undefined } })
    const notFound = () => new Response('of the host')
    for (const path of ['feedback/resend', 'unsubscribe/x']) {
      const request = new Request(`https://app.example/api/outbound/${path}`, { method: 'POST' })
      expect(await (await toFetch(sallyport, { notFound })(request)).text()).toBe('of the host')
    }
  })

  it('A source that cannot check the proof now is 503, and onError gets its error', async () => {
    const errors: unknown[] = []
    const cause = new Error('no certificate')
    const broken = { tenant: 'default', channel: 'email', receive: () => Promise.reject(cause) }
    const nothing = { tenant: 'default', channel: 'email', receive: async () => undefined as never }
    const hooks = { onError: (...given: unknown[]) => errors.push(given) }
    const app = consentApp({ sources: { broken, nothing }, rest: { hooks } })
    for (const name of ['broken', 'nothing']) {
      const answer = await app.fetch(feedbackRequest(name, 'x'))
      expect([answer.status, Object(await answer.json()).code]).toEqual([503, 'feedback_unavailable'])
    }
    expect(errors).toMatchObject([
      [cause, { operation: 'feedback' }],
      [{ code: 'answer_invalid' }, { operation: 'feedback' }],
    ])
  })

  it('A store that fails is 503, and the provider repeats the request without a loss', async () => {
    let isDown = true
    const app = consentApp({
      store: (store) =>
        aroundRecords(store, 'feedback', { change: (run) => (isDown ? Promise.reject(new Error('down')) : run()) }),
    })
    const id = await app.send('order')
    const delivered = { type: 'email.delivered', data: about(undefined) }
    expect((await app.report(delivered)).status).toBe(503)
    isDown = false
    expect((await app.report(delivered)).status).toBe(200)
    expect(await app.feedback(id)).toHaveLength(1)
  })

  it('Events of one tenant neither show nor suppress at another', async () => {
    const app = consentApp()
    const id = await app.send('order')
    const deliveryId = app.email.sent[0]?.deliveryId
    for (const event of [COMPLAINT, { type: 'email.delivered', data: about(deliveryId) }]) {
      expect((await app.report(event, 'resend-other')).status).toBe(200)
    }
    expect(await app.feedback(id)).toBeUndefined()
    expect(await app.outcomes(await app.send('order'))).toEqual(['sent'])
    expect(await app.sallyport.suppressions.find({ address: ADA, tenant: 'other' })).toHaveLength(1)
  })

  it('A proof that counts once is ignored with other events', async () => {
    const app = consentApp()
    const data = { id: 'event_1', timestamp: 1_800_014_400, recipient: ADA, message: { headers: {} } }
    const opened = await mailgunRequest(JSON.stringify({ ...data, event: 'opened' }), {
      seconds: app.clock.now() / 1_000,
    })
    expect((await app.fetch(overHttp('mailgun', opened))).status).toBe(200)
    const text = new TextDecoder().decode(opened.body)
    const replaced = text.replace('"opened"', '"complained"')
    expect(replaced).not.toBe(text)
    expect((await app.fetch(feedbackRequest('mailgun', replaced))).status).toBe(200)
    expect(await app.sallyport.suppressions.find({ address: ADA })).toEqual([])
  })

  it('A proof that counts once counts once for all sources of its account, in any tenant', async () => {
    const other = mailgun({ channel: 'email', signingKey: ['other key', MAILGUN_KEY], tenant: 'other' })
    const foreign = mailgun({ channel: 'email', signingKey: 'foreign key' })
    const app = consentApp({ sources: { other, foreign } })
    const event = (name: string) => JSON.stringify({ id: 'event_1', event: name, recipient: ADA })
    const seconds = app.clock.now() / 1_000
    const opened = await mailgunRequest(event('opened'), { seconds })
    expect((await app.fetch(overHttp('mailgun', opened))).status).toBe(200)
    const replaced = new TextDecoder().decode(opened.body).replace('"opened"', '"complained"')
    expect((await app.fetch(feedbackRequest('other', replaced))).status).toBe(200)
    expect(await app.sallyport.suppressions.find({ address: ADA, tenant: 'other' })).toEqual([])
    // The same token, signed with the key of another account.
    const complained = await mailgunRequest(event('complained'), { seconds, key: 'foreign key' })
    expect((await app.fetch(overHttp('foreign', complained))).status).toBe(200)
    expect(await app.sallyport.suppressions.find({ address: ADA })).toHaveLength(1)
  })

  it('A thousand events of one body are all stored', async () => {
    const signer = sendgridSigner()
    const source = sendgrid({ channel: 'email', publicKey: signer.publicKey })
    const app = consentApp({ sources: { sendgrid: source } })
    const id = await app.send('order')
    const deliveryId = app.email.sent[0]?.deliveryId
    const seconds = app.clock.now() / 1_000
    const others = Array.from({ length: 999 }, (_, at) => ({
      ...{ event: 'bounce', type: 'bounce', status: '5.1.1', email: `u${at}@example.com`, timestamp: seconds },
      sg_event_id: `e${at}`,
    }))
    const own = {
      event: 'delivered',
      email: ADA,
      timestamp: seconds,
      sallyport_delivery_id: deliveryId,
      sg_event_id: 'e',
    }
    const request = signer.sign(JSON.stringify([...others, own]), seconds)
    const names = ['signature', 'timestamp'].map((name) => `x-twilio-email-event-webhook-${name}`)
    expect((await app.fetch(overHttp('sendgrid', request, names))).status).toBe(200)
    expect(await app.feedback(id)).toHaveLength(1)
    let listed = 0
    for await (const part of app.sallyport.suppressions.exportCsv()) listed += part.split('\r\n').length - 1
    expect(listed).toBe(1_000)
    const received = app.logger.lines.find(({ event }) => event === 'feedback.received')
    expect(received?.fields).toEqual({ source: 'sendgrid', events: 1_000, added: 1_000 })
  })

  it('Feedback and suppressions hold no address, and neither does the log', async () => {
    const app = consentApp()
    await app.report(HARD_BOUNCE)
    await app.report(COMPLAINT)
    const found = await feedbackRecords(app.store).find([{ tenant: 'default', channel: 'email', owner: 'message:p1' }])
    expect(found.map(({ kind }) => kind).toSorted()).toEqual(['bounced', 'complained'])
    const { items } = await suppressionRecords(app.store).list({ tenant: 'default', limit: 10 })
    expect(items).toHaveLength(2)
    expect(JSON.stringify([found, items, app.logger.lines])).not.toContain('ada')
  })

  it('Pruning removes expired suppressions', async () => {
    const app = consentApp()
    for (const [address, expiresInMs] of [
      ['a@example.com', 1_000],
      ['b@example.com', undefined],
    ] as const)
      await app.sallyport.suppressions.add({ channel: 'email', address, expiresInMs })
    app.clock.advance(1_001)
    await app.sallyport.dispatches.prune({ olderThan: 86_400_000 })
    expect(await suppressionRecords(app.store).removeExpired(10)).toBe(0)
    expect((await app.sallyport.suppressions.list()).items).toHaveLength(1)
  })

  it('Pruning removes old feedback', async () => {
    const app = consentApp()
    await app.send('order')
    await app.report({ type: 'email.delivered', data: about(undefined) })
    const owner = { tenant: 'default', channel: 'email', owner: 'message:p1' }
    app.clock.advance(7 * 86_400_000)
    await app.sallyport.dispatches.prune({ olderThan: 0 })
    expect(await feedbackRecords(app.store).find([owner])).toHaveLength(1)
    app.clock.advance(2 * 86_400_000)
    await app.sallyport.dispatches.prune({ olderThan: 0 })
    expect(await feedbackRecords(app.store).find([owner])).toEqual([])
  })
})

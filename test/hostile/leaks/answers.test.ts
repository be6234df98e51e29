import { describe, expect, it } from 'vitest'
import { openTestApp, type TestApp } from './test-app.ts'

const EVENTS = ['order', 'reported', 'first', 'digested', 'refined', 'asked', 'missing', 'heavy', 'ruled', 'person']
const SCHEMAS = ['picked', 'zodded']

/** Data full of secrets, and of values that make templates and rules fail. */
function bodyOf({ canaries }: TestApp, eventType: string) {
  const data = canaries.word('event data')
  const key = canaries.word('keys of sent data')
  const sessionId = canaries.word('session id')
  const eventData = { note: data, key, [key]: data, own: `${data}@`, list: {}, times: 9_000_000 }
  return { eventType, recipient: `u-${canaries.word('recipient as sent')}`, sessionId, eventData }
}

describe('answers', () => {
  it.each([...EVENTS, ...SCHEMAS])(
    'An answer about %s shows an application only what it sent and its preview',
    async (event) => {
      const app = await openTestApp()
      const body = bodyOf(app, event)
      const key = { 'idempotency-key': app.canaries.word('idempotency key') }
      const statuses: number[] = []
      for (const query of ['', '?dryRun=true', '?dryRun=maybe', ''])
        statuses.push((await app.post('dispatch', { body, query, headers: key })).status)
      app.collected.keep('call', await app.sallyport.dispatches.list())
      const isRefused = SCHEMAS.includes(event) || event === 'missing'
      expect(statuses).toEqual(isRefused ? [422, 422, 422, 422] : [202, 200, 422, 202])
    },
  )

  it('Answers and logs do not show a value that is no valid time zone', async () => {
    const app = await openTestApp()
    const { body } = await app.post('dispatch', { body: bodyOf(app, 'zoned') })
    expect(body.status).toBe('failed')
    expect([...app.collected.events]).toContain('event.failed')
    const { unplanned = [] } = (await app.sallyport.dispatches.retry(String(body.dispatchId))) ?? {}
    expect(unplanned.map(({ code }) => code)).toEqual(Array(3).fill('template_error'))
  })

  it('An answer to an agent shows no address and no content', async () => {
    const app = await openTestApp()
    const { canaries, post, sessionToken, userId, collected } = app
    const recipient = `u-${userId}`
    const send = (eventType: string, note: string) =>
      post('dispatch', { token: sessionToken, body: { eventType, recipient, eventData: { note, key: 'note' } } })
    const { status, body } = await send('order', canaries.word('event data'))
    expect([status, body.deliveries]).toMatchObject([
      202,
      [{}, { trace: [{ path: 'recipient.attributes.plan' }] }, {}, {}],
    ])
    await send('asked', canaries.word('event data'))
    await post('dispatch', { token: sessionToken, body: bodyOf(app, 'order') })
    await post('dispatch', { token: sessionToken, query: '?dryRun=true', body: bodyOf(app, 'order') })
    expect(collected.seen).toContain('session and user of a token: answer')
  })

  it.each<[string, (secret: string) => unknown]>([
    [
      'a refusal of its own',
      (secret) => ({ id: 'u', refused: 'internal_error', detail: secret, errors: [{ pointer: secret }] }),
    ],
    [
      'a member called refused',
      (secret) => ({ refused: false, detail: secret, id: 'u', email: `${secret}@mail.example` }),
    ],
    ['a text', (secret) => secret],
    ['no recipient', (secret) => ({ [secret]: secret, id: { secret } })],
    ['an invalid address', (secret) => ({ id: 'u', email: `${secret}\0`, phone: secret, url: secret, locale: secret })],
    ['an address in a list', (secret) => ({ id: 'u', email: [secret], locale: [secret] })],
  ])('An answer shows nothing of a directory that gives %s', async (_, found) => {
    let secret = ''
    const app = await openTestApp({ rest: { recipients: { find: async () => found(secret) as never } } })
    secret = app.canaries.word('address in the directory')
    const { status } = await app.post('dispatch', { body: bodyOf(app, 'reported') })
    expect([202, 422, 503]).toContain(status)
  })

  it.each<[string, (secret: string) => unknown]>([
    ['a reason of its own', (secret) => ({ verdict: 'skip', reason: secret })],
    ['a verdict of its own', (secret) => ({ verdict: secret })],
    ['a text for a time', (secret) => ({ verdict: 'defer', until: secret })],
    ['limits with keys of its own', (secret) => ({ verdict: 'send', limits: [{ key: secret, max: 1, windowMs: 1 }] })],
  ])('An answer shows nothing of a policy that gives %s', async (_, verdict) => {
    let secret = ''
    const app = await openTestApp({ rest: { policy: { decide: async () => verdict(secret) as never } } })
    secret = app.canaries.word('address in the directory')
    for (const event of ['reported', 'digested']) await app.post('dispatch', { body: bodyOf(app, event) })
  })

  it.each<[string, (secret: string) => unknown]>([
    ['an invalid principal', (secret) => ({ id: secret, tenant: `${secret}\n`, userId: secret })],
    ['a refusal of its own', (secret) => ({ refused: secret, detail: secret })],
    ['a text', (secret) => secret],
    ['a malformed grant', (secret) => ({ id: 'x', tenant: 't', sessionId: 's', dispatch: { events: secret } })],
  ])('An answer shows nothing of a verifier that gives %s', async (_, given) => {
    let secret = ''
    const app = await openTestApp({ rest: { auth: { verify: async () => given(secret) as never } } })
    secret = app.canaries.word('grant of a token')
    expect((await app.post('dispatch', { body: bodyOf(app, 'reported') })).status).toBeGreaterThan(400)
  })

  it.each<[string, (secret: string) => unknown]>([
    ['an invalid price', (secret) => ({ amount: secret, currency: secret, version: secret })],
    ['a version with spaces', (secret) => ({ amount: '1', currency: 'USD', version: `${secret} of ours` })],
    ['a text', (secret) => secret],
  ])('An answer shows nothing of a price book that gives %s', async (_, price) => {
    let secret = ''
    const app = await openTestApp({ rest: { prices: { price: () => price(secret) as never } } })
    secret = app.canaries.word('error of a port')
    const run = { runId: 'r', status: 'completed', model: 'm', counts: { inputTokens: 1 } }
    await app.post('session_run', { body: { sessionId: 's', run } })
    expect([...app.collected.events]).toContain('request.failed')
  })
})

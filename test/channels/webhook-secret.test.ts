import { type FindWebhookSecret, webhook } from 'sallyport/channels/webhook'
import { Webhook } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { NEXT_SECRET, type Received, recordingPeer, SECRET, sendTo } from './events.ts'
import { context, message } from './messages.ts'
import { deferred, manualClock } from './peers.ts'

test('The secret function receives URL, recipient and tenant of the delivery', async () => {
  const { port, received } = await recordingPeer()
  const secret = vi.fn(async () => NEXT_SECRET)
  expect(await sendTo(port, { secret })).toEqual({ outcome: 'sent' })
  expect(secret).toHaveBeenCalledExactlyOnceWith({
    url: `http://127.0.0.1:${port}/hook?a=b#c`,
    recipient: 'user_42',
    tenant: 'acme',
  })
  const { body, headers } = received[0] as Received
  expect(new Webhook(NEXT_SECRET).verify(body, headers)).toBeTruthy()
})

test('Each recipient has a secret of its own, also behind one URL', async () => {
  const { port, received } = await recordingPeer()
  const secrets: Readonly<Record<string, string>> = { ada: SECRET, bob: NEXT_SECRET }
  const channel = webhook({
    secret: ({ recipient }) => secrets[recipient],
    ...{ allowHttp: true, allowPrivateNetworks: true, ports: [port] },
  })
  for (const recipient of ['ada', 'bob']) {
    const outcome = await channel.send({ ...message(`http://127.0.0.1:${port}/`, {}), recipient }, context())
    expect(outcome).toEqual({ outcome: 'sent' })
  }
  const [ada, bob] = received as [Received, Received]
  expect(new Webhook(SECRET).verify(ada.body, ada.headers)).toBeTruthy()
  expect(new Webhook(NEXT_SECRET).verify(bob.body, bob.headers)).toBeTruthy()
  expect(() => new Webhook(SECRET).verify(bob.body, bob.headers)).toThrow()
})

test('The secret function is called at each attempt, so a new secret needs no restart', async () => {
  const { port, received } = await recordingPeer()
  const secrets = [SECRET, [NEXT_SECRET, SECRET]]
  const secret: FindWebhookSecret = () => secrets.shift()
  for (let attempt = 0; attempt < 2; attempt++) await sendTo(port, { secret })
  expect(received.map(({ headers }) => headers['webhook-signature']?.split(' ').length)).toEqual([1, 2])
})

test.each([
  ['malformed', 'hunter2'],
  ['null', null],
  ['a public key', `whpk_${Buffer.alloc(32).toString('base64')}`],
  ['an empty list', []],
  ['a list with a hole', new Array(1)],
  ['a list with one bad secret', [SECRET, 'hunter2']],
])('An endpoint whose secret is %s gets no request, and the error quotes nothing', async (_what, secret) => {
  const { port, received } = await recordingPeer()
  const outcome = await sendTo(port, { secret: () => secret as string })
  expect(outcome).toEqual({ outcome: 'retry', code: 'secret_invalid', cause: expect.any(Error) })
  expect(Reflect.get(Object(outcome), 'cause').message).toMatch(
    /^secret\(\) of the webhook channel returned [a-z \d]+; return whsec_ and base64 of 24 to 64 bytes, .* make one with `[^`]+`$/,
  )
  expect(received).toHaveLength(0)
})

test('An endpoint without a secret gets no request, and the error says what to return', async () => {
  const { port, received } = await recordingPeer()
  for (const secret of [() => undefined, async () => undefined]) {
    const message = expect.stringMatching(/^secret\(\) of the webhook channel returned undefined; return whsec_/)
    const outcome = await sendTo(port, { secret })
    expect(outcome).toMatchObject({ outcome: 'retry', code: 'secret_missing', cause: { message } })
  }
  expect(received).toHaveLength(0)
})

test('A throw or rejection of the secret function is a retry with its error, and nothing is sent', async () => {
  const { port, received } = await recordingPeer()
  const cause = new RangeError('no such customer')
  const throws: FindWebhookSecret = () => {
    throw cause
  }
  for (const secret of [throws, async () => Promise.reject(cause)]) {
    const message = expect.stringMatching(/^secret\(\) of the webhook channel threw instead of returning whsec_/)
    const outcome = await sendTo(port, { secret })
    expect(outcome).toMatchObject({ outcome: 'retry', code: 'secret_error', cause: { message, cause } })
  }
  expect(received).toHaveLength(0)
})

test.each([
  ['its result', (settle: { resolve: (secret: string) => void }) => settle.resolve(SECRET)],
  ['its rejection', (settle: { reject: (cause: Error) => void }) => settle.reject(new Error('too late'))],
])('A secret function that is not done in time is a retry, and %s is then ignored', async (_what, settleLate) => {
  const { port, received } = await recordingPeer()
  const clock = manualClock()
  await withoutStrayRejections(async () => {
    const called = deferred()
    let settle: { resolve: (secret: string) => void; reject: (cause: Error) => void } | undefined
    const secret: FindWebhookSecret = () => {
      called.resolve()
      return new Promise((resolve, reject) => {
        settle = { resolve, reject }
      })
    }
    const sending = sendTo(port, { secret, clock, timeoutMs: 2_000 })
    await called.promise
    clock.advance(1_999)
    expect(clock.pending()).toBe(1)
    clock.advance(1)
    const cause = expect.objectContaining({ code: 'no_answer' })
    expect(await sending).toEqual({ outcome: 'retry', code: 'secret_timeout', cause })
    if (settle) settleLate(settle)
  })
  expect(clock.pending()).toBe(0)
  expect(received).toHaveLength(0)
})

test('An abort ends the wait for a secret, and nothing is sent', async () => {
  const { port, received } = await recordingPeer()
  const clock = manualClock()
  const lease = new AbortController()
  const secret: FindWebhookSecret = () => {
    lease.abort('lease_ending')
    return new Promise<never>(() => {})
  }
  expect(await sendTo(port, { secret, clock }, lease.signal)).toEqual({ outcome: 'retry', code: 'aborted' })
  expect(clock.pending()).toBe(0)
  expect(received).toHaveLength(0)
})

test('A secret that arrives with the abort signs nothing', async () => {
  const { port, received } = await recordingPeer()
  const lease = new AbortController()
  const secret: FindWebhookSecret = async () => {
    queueMicrotask(() => lease.abort('lease_ending'))
    return SECRET
  }
  expect(await sendTo(port, { secret }, lease.signal)).toEqual({ outcome: 'retry', code: 'aborted' })
  expect(received).toHaveLength(0)
})

test('The secret function is not called for a forbidden address', async () => {
  const secret = vi.fn(() => SECRET)
  const outcome = await webhook({ secret }).send(message('https://127.0.0.1/', {}), context())
  expect(outcome).toEqual({ outcome: 'rejected', code: 'address_forbidden', by: 'channel' })
  expect(secret).not.toHaveBeenCalled()
})

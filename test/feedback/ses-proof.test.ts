import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { ses } from 'sallyport/feedback/ses'
import { fakeClock } from 'sallyport/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FeedbackTrial } from '../../src/contract-tests/index.ts'
import type { FeedbackSource } from '../../src/ports/feedback-source.ts'
import { CERTIFICATE as ELLIPTIC_CERTIFICATE } from '../channels/certificate.ts'
import { FUNCTION, HOLE, PART, TIMEOUT } from '../options/option-rows.ts'
import { testOptions } from '../options/option-tests.ts'
import { DAY_MS, NOW, REFUSED, requestOf } from './requests.ts'
import {
  CERTIFICATE,
  CERTIFICATE_URL,
  NOTIFICATION,
  OTHER_KEY,
  type SnsFields,
  type SnsServer,
  SUBSCRIBE_URL,
  SUBSCRIPTION,
  sesRequest,
  signed,
  snsRequest,
  snsServer,
  TOPIC,
} from './sns-peer.ts'
import { AGE, NO_PROOF, SOURCE_OPTIONS, testSource } from './source-tests.ts'

const require = createRequire(import.meta.url)

const sourceWith = (server: SnsServer): FeedbackSource =>
  ses({ channel: 'email', topicArns: [TOPIC], fetch: server.fetch })

const EVENT = '{"eventType":"Open","mail":{},"open":{}}'

type Validate = (message: SnsFields, done: (error: Error | null) => void) => void

function sesTrial(): FeedbackTrial {
  const event = JSON.stringify({ eventType: 'Delivery', mail: {}, delivery: { recipients: ['a@example.com'] } })
  return {
    source: ses({ channel: 'email', topicArns: [TOPIC], fetch: snsServer().fetch }),
    request: () => sesRequest(event),
    forged: () => [snsRequest({ ...NOTIFICATION, Message: event }, OTHER_KEY), NO_PROOF, requestOf({ body: event })],
    prove: (text) => sesRequest(text),
  }
}

testSource('ses', {
  create: sesTrial,
  maxBytes: 262_144,
})

const topics = { channel: 'email', topicArns: ['arn:aws:sns:us-east-1:123456789012:feedback'] }
testOptions('sallyport/feedback/ses ses', 'SesOptions', ses, topics, {
  ...SOURCE_OPTIONS,
  ...AGE,
  topicArns: ['x', {}, [], [7], ['arn:aws:sqs:us-east-1:123456789012:q'], ['*'], HOLE],
  fetch: FUNCTION,
  timeoutMs: TIMEOUT,
  clock: PART,
})

describe('the signature of SNS', () => {
  afterEach(() => vi.restoreAllMocks())

  it.each(['1', '2'])('The messages of these tests are valid for a validator of AWS: version %s', async (version) => {
    const https: { get(url: string, done: (response: Readable) => void): unknown } = require('node:https')
    vi.spyOn(https, 'get').mockImplementation((_, done) => {
      const response = Object.assign(Readable.from([CERTIFICATE]), { statusCode: 200 })
      done(response)
      return response
    })
    const Validator: new () => { validate: Validate } = require('sns-validator')
    const errorOf = (message: SnsFields): Promise<Error | null> =>
      new Promise((resolve) => new Validator().validate({ ...message }, resolve))
    for (const fields of [NOTIFICATION, SUBSCRIPTION]) {
      const message = signed({ ...fields, SignatureVersion: version })
      expect(await errorOf(message)).toBeNull()
      expect(await errorOf({ ...message, Message: 'x' })).toBeInstanceOf(Error)
      const receipt = await sourceWith(snsServer()).receive(requestOf({ body: JSON.stringify(message) }))
      expect(receipt).toMatchObject({ outcome: 'events' })
    }
  })

  it.each(['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type', 'SignatureVersion', 'Signature'])(
    'A changed %s is refused',
    async (name) => {
      const message = signed({ ...NOTIFICATION, Message: EVENT })
      for (const value of [`x${message[name]}`, '', undefined]) {
        const body = JSON.stringify({ ...message, [name]: value })
        expect(await sourceWith(snsServer()).receive(requestOf({ body }))).toEqual(REFUSED)
      }
    },
  )

  it('Another key, another version and a raw message is refused', async () => {
    const source = sourceWith(snsServer())
    expect(await source.receive(snsRequest({ ...NOTIFICATION, Message: EVENT }, OTHER_KEY))).toEqual(REFUSED)
    expect(await source.receive(sesRequest(EVENT, { SignatureVersion: '3' }))).toEqual(REFUSED)
    const headers = { 'x-amz-sns-rawdelivery': 'true', 'x-amz-sns-topic-arn': TOPIC }
    expect(await source.receive(requestOf({ body: EVENT, headers }))).toEqual(REFUSED)
  })

  it('A message of 2 hours ago is accepted, an older one and one in the future is refused', async () => {
    const source = sourceWith(snsServer())
    const at = (ms: number) => source.receive(sesRequest(EVENT, { Timestamp: new Date(NOW + ms).toISOString() }))
    for (const ms of [-7_200_000, 300_000]) expect(await at(ms)).toMatchObject({ outcome: 'events' })
    for (const ms of [-7_200_001, 300_001]) expect(await at(ms)).toEqual(REFUSED)
    expect(await source.receive(sesRequest(EVENT, { Timestamp: 'yesterday' }))).toEqual(REFUSED)
  })
})

describe('the certificate of SNS', () => {
  it('It is loaded once, without redirects', async () => {
    const server = snsServer()
    const source = sourceWith(server)
    await Promise.all(Array.from({ length: 20 }, () => source.receive(sesRequest(EVENT))))
    await source.receive(sesRequest(EVENT))
    expect(server.requested).toEqual([CERTIFICATE_URL])
    expect(server.inits[0]).toMatchObject({ redirect: 'error', signal: expect.any(AbortSignal) })
  })

  it.each([
    'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem',
    'https://sns.us-gov-west-1.amazonaws.com/SimpleNotificationService-1.pem',
  ])('It is loaded from %s for a topic of that region', async (SigningCertURL) => {
    const server = snsServer()
    const [, region = ''] = /sns\.([^.]+)/.exec(SigningCertURL) ?? []
    const TopicArn = TOPIC.replace('us-east-1', region)
    const source = ses({ channel: 'email', topicArns: [TopicArn, TOPIC], fetch: server.fetch })
    expect(await source.receive(sesRequest(EVENT, { TopicArn, SigningCertURL }))).toMatchObject({ outcome: 'events' })
    expect(await source.receive(sesRequest(EVENT, { SigningCertURL }))).toEqual(REFUSED)
    expect(server.requested).toEqual([SigningCertURL])
  })

  it.each([
    'http://sns.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.com.evil.example/x.pem',
    'https://evil.example/sns.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.com@evil.example/x.pem',
    'https://a:b@sns.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.com:8443/x.pem',
    'https://bucket.s3.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.com/?Action=GetEndpointAttributes&x=/x.pem',
    'https://sns.us-east-1.amazonaws.com/x.pem?y',
    'https://sns.us-east-1.amazonaws.com/x.pem#y',
    'https://sns.us-east-1.amazonaws.com/a/x.pem',
    'https://sns.us-east-1.amazonaws.com/x.txt',
    'https://sns.amazonaws.com/x.pem',
    'file:///x.pem',
    'x.pem',
  ])('Nothing is fetched from %s', async (url) => {
    const server = snsServer()
    expect(await sourceWith(server).receive(sesRequest(EVENT, { SigningCertURL: url }))).toEqual(REFUSED)
    expect(server.requested).toEqual([])
  })

  it('A message of a foreign topic is refused before anything is fetched', async () => {
    const server = snsServer()
    for (const TopicArn of [`${TOPIC}x`, TOPIC.replace('123456789012', '999999999999'), TOPIC.toUpperCase()]) {
      expect(await sourceWith(server).receive(sesRequest(EVENT, { TopicArn }))).toEqual(REFUSED)
      expect(await sourceWith(server).receive(snsRequest({ ...SUBSCRIPTION, TopicArn }))).toEqual(REFUSED)
    }
    expect(server.requested).toEqual([])
  })

  it('An answer without a certificate is refused', async () => {
    for (const response of [
      () => new Response('no', { status: 404 }),
      () => new Response('<xml/>'),
      () => new Response('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
      () => new Response(CERTIFICATE.padStart(20_000)),
      () => new Response(null),
    ]) {
      expect(await sourceWith(snsServer(response)).receive(sesRequest(EVENT))).toEqual(REFUSED)
    }
  })

  it('A certificate of another kind of key is refused', async () => {
    const server = snsServer(() => new Response(ELLIPTIC_CERTIFICATE))
    for (const SignatureVersion of ['1', '2']) {
      expect(await sourceWith(server).receive(sesRequest(EVENT, { SignatureVersion }))).toEqual(REFUSED)
    }
  })

  it('Sixteen certificates are kept', async () => {
    const server = snsServer()
    const source = sourceWith(server)
    const use = (index: number) =>
      source.receive(sesRequest(EVENT, { SigningCertURL: CERTIFICATE_URL.replace('f3ec', `${index}`) }))
    for (const index of [0, ...Array(17).keys(), 16]) expect(await use(index)).toMatchObject({ outcome: 'events' })
    expect(server.requested).toHaveLength(17)
    await use(0)
    expect(server.requested).toHaveLength(18)
  })

  it('A certificate that is not valid now is refused', async () => {
    const source = ses({
      ...{ channel: 'email', topicArns: [TOPIC], toleranceSeconds: 604_800 },
      fetch: snsServer().fetch,
    })
    const before = Date.UTC(2026, 10, 20)
    const request = sesRequest(EVENT, { Timestamp: new Date(before).toISOString() })
    expect(await source.receive({ ...request, now: before + DAY_MS })).toEqual(REFUSED)
    expect(await source.receive({ ...request, now: before + 6 * DAY_MS })).toMatchObject({ outcome: 'events' })
  })

  it('A server that fails throws, so that the request is repeated, and the next one succeeds', async () => {
    for (const failure of [
      () => new Response('busy', { status: 503 }),
      () => new Response('slow down', { status: 429 }),
      () => Promise.reject(new Error(`cannot connect to ${CERTIFICATE_URL}`)),
    ]) {
      let times = 0
      const source = sourceWith(snsServer(() => (times++ === 0 ? failure() : new Response(CERTIFICATE))))
      await expect(source.receive(sesRequest(EVENT))).rejects.toThrow('ses: the signing certificate cannot be loaded')
      expect(await source.receive(sesRequest(EVENT))).toMatchObject({ outcome: 'events' })
    }
  })

  it('A server that does not answer in time throws, and its request is aborted', async () => {
    const clock = fakeClock(NOW)
    const server = snsServer(() => new Promise(() => {}))
    const source = ses({ channel: 'email', topicArns: [TOPIC], fetch: server.fetch, timeoutMs: 1_000, clock })
    const receiving = source.receive(sesRequest(EVENT))
    receiving.catch(() => {})
    clock.advance(1_000)
    await expect(receiving).rejects.toThrow('cannot be loaded')
    expect(server.inits[0]?.signal?.aborted).toBe(true)
  })

  it('Certificates that do not load keep no genuine one out, and the newest of sixteen downloads ends the oldest', async () => {
    const server = snsServer((url) => (url === CERTIFICATE_URL ? new Response(CERTIFICATE) : new Promise(() => {})))
    const source = sourceWith(server)
    const forged = (index: number) =>
      source.receive(sesRequest(EVENT, { SigningCertURL: CERTIFICATE_URL.replace('f3ec', `${index}`) }))
    const waiting = Array.from({ length: 16 }, (_, index) => forged(index))
    const first = expect(waiting[0]).rejects.toThrow('cannot be loaded')
    for (const others of waiting) others.catch(() => {})
    expect(await source.receive(sesRequest(EVENT))).toMatchObject({ outcome: 'events' })
    await first
    expect(server.inits.map(({ signal }) => signal?.aborted)).toEqual([true, ...Array(15).fill(false), true])
  })
})

describe('the subscription', () => {
  it('It is confirmed after the proof, and has no events', async () => {
    const server = snsServer()
    expect(await sourceWith(server).receive(snsRequest(SUBSCRIPTION))).toEqual({ outcome: 'events', events: [] })
    expect(server.requested).toEqual([CERTIFICATE_URL, SUBSCRIBE_URL])
    expect(server.inits[1]).toMatchObject({ redirect: 'error' })
  })

  it('It is not confirmed without the right signature', async () => {
    const server = snsServer()
    expect(await sourceWith(server).receive(snsRequest(SUBSCRIPTION, OTHER_KEY))).toEqual(REFUSED)
    expect(server.requested).toEqual([CERTIFICATE_URL])
  })

  it.each([
    SUBSCRIBE_URL.replace('sns.us-east-1.amazonaws.com', 'evil.example'),
    SUBSCRIBE_URL.replace('https', 'http'),
    SUBSCRIBE_URL.replace('ConfirmSubscription', 'Unsubscribe'),
    SUBSCRIBE_URL.replace('123456789012', '999999999999'),
    SUBSCRIBE_URL.replace('.com/', '.com:444/'),
    'nonsense',
  ])('Nothing is confirmed at %s', async (url) => {
    const server = snsServer()
    expect(await sourceWith(server).receive(snsRequest({ ...SUBSCRIPTION, SubscribeURL: url }))).toEqual(REFUSED)
    expect(server.requested).toEqual([CERTIFICATE_URL])
  })

  it('A failed confirmation throws without the URL', async () => {
    for (const failure of [
      () => new Response('no', { status: 500 }),
      () => Promise.reject(new Error(`cannot reach ${SUBSCRIBE_URL}`)),
    ]) {
      const server = snsServer((url) => (url === CERTIFICATE_URL ? new Response(CERTIFICATE) : failure()))
      const error: unknown = await sourceWith(server)
        .receive(snsRequest(SUBSCRIPTION))
        .catch((thrown) => thrown)
      expect(error).toEqual(new Error('ses: the subscription cannot be confirmed'))
      expect(error).not.toHaveProperty('cause')
    }
  })

  it('Its end is an event unknown, and it is not confirmed again', async () => {
    const server = snsServer()
    const ended = snsRequest({ ...SUBSCRIPTION, Type: 'UnsubscribeConfirmation' })
    expect(await sourceWith(server).receive(ended)).toEqual({
      outcome: 'events',
      events: [
        {
          kind: 'unknown',
          eventId: SUBSCRIPTION.MessageId,
          at: Date.parse(SUBSCRIPTION.Timestamp ?? ''),
          code: 'unsubscribe_confirmation',
        },
      ],
    })
    expect(server.requested).toEqual([CERTIFICATE_URL])
  })
})

import { createTransport } from 'nodemailer'
import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, it } from 'vitest'
import { email, type MailTransport } from '../../../src/channels/email.ts'
import { failover } from '../../../src/channels/failover.ts'
import { sms } from '../../../src/channels/sms.ts'
import { webhook } from '../../../src/channels/webhook.ts'
import type { Channel, SendOutcome } from '../../../src/ports/channel.ts'
import { bodyOf, deadPort, httpPeer, smtpPeer } from '../../channels/peers.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import type { Canaries } from './canaries.ts'
import { openTestApp } from './test-app.ts'
import { throughTime } from './through-time.ts'

/** Creates a channel over a provider that answers. */
type Provider = (canaries: Canaries) => Promise<Channel>

const said = ({ word }: Canaries): string => `We know ${word('text of a provider')} <"&> and will not`

/** A mail server that requires a login and refuses at the given step. */
function mailing(where: 'onAuth' | 'onMailFrom' | 'onRcptTo' | 'onData' | 'nowhere', code = 550): Provider {
  return async (secrets) => {
    const [user, pass] = [0, 1].map(() => secrets.word('credentials for a provider')) as [string, string]
    const refusal = (): Error => Object.assign(new Error(said(secrets)), { responseCode: code })
    const options: SMTPServerOptions = {
      disabledCommands: ['STARTTLS'],
      onAuth: (auth, _s, done) => (where === 'onAuth' ? done(refusal()) : done(null, { user: auth.username ?? '' })),
      onMailFrom: (_a, _s, done) => done(where === 'onMailFrom' ? refusal() : null),
      onRcptTo: (_a, _s, done) => done(where === 'onRcptTo' ? refusal() : null),
      onData: (mail, _s, done) => mail.resume().on('end', () => done(where === 'onData' ? refusal() : null)),
    }
    const port = await smtpPeer({ ...options, allowInsecureAuth: true } as SMTPServerOptions)
    const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth: { user, pass } })
    return email(transport, { from: 'shop@example.com' })
  }
}

/** A transport whose error quotes its connection URL. */
const misconfigured: Provider = async ({ word }) => {
  const at = `smtps://shop:${word('connection string')}@mail.example`
  const transport: MailTransport = {
    sendMail: async (mail) => {
      throw Object.assign(new Error(`${at} took no ${mail.to.address}`), { code: at, command: mail.text, response: at })
    },
  }
  return email(transport, { from: 'shop@example.com' })
}

function hooked(status: number, secretOf?: (secret: string) => string, kind: 'whsec' | 'whsk' = 'whsec'): Provider {
  return async (secrets) => {
    const key = Buffer.from(secrets.word('webhook secret').padEnd(32, 'x'))
    const bytes = kind === 'whsk' ? key.subarray(0, 32) : key
    const secret = `${kind}_${secrets.watch('webhook secret', bytes.toString('base64'))}`
    const port = await httpPeer(async (request, response) => {
      await bodyOf(request)
      const text = said(secrets)
      response.writeHead(status, { 'retry-after': text, 'x-said': text, location: `/${text}` }).end(text)
    })
    const channel = webhook({
      secret: secretOf ? () => secretOf(secret) : secret,
      ...{ allowHttp: true, allowPrivateNetworks: true },
    })
    // Sends to this machine what would go to an internet address, with the same path.
    const here = (to: string): string => `http://127.0.0.1:${port}${new URL(to).pathname}`
    return { ...channel, send: (message, context) => channel.send({ ...message, to: here(message.to) }, context) }
  }
}

function texting(status: number, body: (text: string) => unknown): Provider {
  return async (secrets) => {
    const sid = secrets.word('credentials for a provider')
    const port = await httpPeer(async (request, response) => {
      await bodyOf(request)
      const text = said(secrets)
      response.writeHead(status, { 'retry-after': text, 'x-said': text }).end(JSON.stringify(body(text)))
    })
    return sms({
      ...{ accountSid: `AC${sid}`, authToken: secrets.word('credentials for a provider'), from: 'Shop' },
      baseUrl: `http://127.0.0.1:${port}`,
    })
  }
}

/** A channel of the host that returns a provider's text in any member. */
function own(outcome: (text: string) => unknown): Provider {
  return async (secrets) =>
    recordingChannel([async () => outcome(said(secrets)) as SendOutcome], { address: ({ email }) => email })
}

/** Each with its channel and the expected code of its first attempt. */
const PROVIDERS: Readonly<Record<string, readonly [channel: string, code: string | undefined, provider: Provider]>> = {
  'a mail server that accepts': ['email', undefined, mailing('nowhere')],
  'a mail server that refuses the login': ['email', 'smtp_auth', mailing('onAuth', 535)],
  'a mail server that refuses the sender': ['email', 'smtp_550', mailing('onMailFrom')],
  'a mail server that refuses the recipient': ['email', 'smtp_550', mailing('onRcptTo')],
  'a mail server that defers the recipient': ['email', 'smtp_451', mailing('onRcptTo', 451)],
  'a mail server that refuses the message': ['email', 'smtp_550', mailing('onData')],
  'a transport that quotes its connection': ['email', 'transport_error', misconfigured],
  'no mail server': [
    'email',
    'connection_failed',
    async () => email(createTransport({ host: '127.0.0.1', port: await deadPort() }), { from: 'shop@example.com' }),
  ],
  'a webhook that accepts': ['webhook', undefined, hooked(200)],
  'a webhook that redirects': ['webhook', 'http_302', hooked(302)],
  'a webhook that fails': ['webhook', 'http_500', hooked(500)],
  'a webhook that is gone': ['webhook', 'http_410', hooked(410)],
  'a webhook with an invalid secret': ['webhook', 'secret_invalid', hooked(200, (secret) => `${secret}!`)],
  'a webhook with a private key': ['webhook', 'http_500', hooked(500, undefined, 'whsk')],
  'a webhook with an invalid private key': ['webhook', 'secret_invalid', hooked(200, (key) => `${key}AAAA`, 'whsk')],
  'a webhook whose secret is not found': [
    'webhook',
    'secret_error',
    hooked(200, (secret) => {
      throw new Error(secret)
    }),
  ],
  'a text that is accepted': ['sms', undefined, texting(201, () => ({ sid: 'SM1' }))],
  'a text that is refused': [
    'sms',
    'http_400',
    texting(400, (text) => ({ code: text, message: text, more_info: text })),
  ],
  'a text that is refused with a code': [
    'sms',
    'twilio_21211',
    texting(400, (text) => ({ code: 21_211, message: text })),
  ],
  'a login for texts that is refused': ['sms', 'provider_auth', texting(401, (text) => ({ message: text }))],
  'a provider of texts that fails': ['sms', 'http_500', texting(500, (text) => text)],
  'a code that is a text': ['email', 'code_invalid', own((text) => ({ outcome: 'retry', code: text }))],
  'a final code that is a text': ['email', 'code_invalid', own((text) => ({ outcome: 'rejected', code: text }))],
  'an outcome that is a text': ['email', 'outcome_invalid', own((text) => text)],
  'an outcome of another name': ['email', 'outcome_invalid', own((text) => ({ outcome: text, code: text }))],
  'a provider whose name is a text': ['email', 'x', own((text) => ({ outcome: 'unknown', code: 'x', provider: text }))],
  'a wait that is a text': ['email', 'x', own((text) => ({ outcome: 'retry', code: 'x', retryAfterMs: text }))],
  'the second of two providers': [
    'email',
    'smtp_550',
    async (secrets) => failover(await mailing('onData', 451)(secrets), await mailing('onRcptTo')(secrets)),
  ],
}

const EVENTS = ['reported', 'digested', 'first']

describe.each(Object.entries(PROVIDERS))('%s', (_, [name, code, provider]) => {
  it("Neither the provider's texts nor the recipient's data leak", async () => {
    const app = await openTestApp({ channels: async (canaries) => ({ [name]: await provider(canaries) }) })
    const { canaries, post, collected, sallyport, clock } = app
    const ids: string[] = []
    for (const eventType of EVENTS) {
      const eventData = { note: canaries.word('event data') }
      const recipient = `u-${canaries.word('recipient as sent')}`
      const { body } = await post('dispatch', { body: { eventType, recipient, eventData } })
      ids.push(String(body.dispatchId))
    }
    for (let round = 0; round < 12; round++) {
      collected.keep('call', await throughTime(app, sallyport.worker.runDue()))
      clock.advance(3_600_000)
    }
    const { get, retry, cancel } = sallyport.dispatches
    for (const id of ids) collected.keep('call', [await get(id), await retry(id), await cancel(id)])
    const reported = await get(ids[0] ?? '')
    const [first] = reported?.deliveries.find(({ channel }) => channel === name)?.attemptLog ?? []
    expect(first?.code).toBe(code)
  })
})

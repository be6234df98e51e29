import { mailgun } from 'sallyport/feedback/mailgun'
import { resend } from 'sallyport/feedback/resend'
import { toFetch } from 'sallyport/fetch'
import { Webhook } from 'svix'
import { expect } from 'vitest'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { HashKey } from '../../../src/options/hash-keys.ts'
import { type ConsentApi, type ConsentOptions, consent } from '../../../src/plugins/index.ts'
import type { Plugin } from '../../../src/plugins/plugin.ts'
import type { FeedbackRequest, FeedbackSource } from '../../../src/ports/feedback-source.ts'
import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { MAILGUN_KEY, RESEND_SECRET } from '../../feedback/signers.ts'
import { countingIds, type RecordingLogger, recordingLogger, testAuth } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'

export const ADA = 'ada@example.com'
export const HOUR_MS = 3_600_000

export const KEY: HashKey = { kid: 'k1', key: new Uint8Array(32).fill(1) }
export const NEXT_KEY: HashKey = { kid: 'k2', key: new Uint8Array(32).fill(2) }

const events = defineEvents({
  order: { channels: { email: { text: () => 'Shipped' } } },
  news: { category: 'newsletter', channels: { email: { text: ({ links }) => `Off: ${links?.unsubscribe}` } } },
  code: { critical: true, channels: { email: { text: () => 'Code' } } },
  both: { channels: { email: { text: () => 'Hi' }, chat: { text: () => 'Hi' } } },
  first: { route: 'first', channels: { email: { text: () => 'Hi' }, chat: { text: () => 'Hi' } } },
})

export interface ConsentApp {
  readonly sallyport: Sallyport<unknown> & ConsentApi
  readonly email: RecordingChannel
  readonly chat: RecordingChannel
  readonly clock: FakeClock
  readonly logger: RecordingLogger
  readonly store: SallyportStore
  fetch(request: Request): Promise<Response>
  /** Dispatches and sends what is due. Returns the id of the dispatch. */
  send(eventType: string, recipient?: string, tenant?: string): Promise<string>
  /** Statuses of the deliveries, with their reasons. */
  outcomes(dispatchId: string): Promise<readonly string[]>
  /** Posts an event of Resend, signed by Svix's library. */
  report(event: object, name?: string): Promise<Response>
  /** The first delivery's reports. */
  feedback(dispatchId: string): Promise<readonly unknown[] | undefined>
}

interface Parts {
  readonly email?: RecordingChannel
  readonly store?: (store: SallyportStore) => SallyportStore
  readonly rest?: Partial<SallyportOptions<unknown>>
  readonly sources?: Readonly<Record<string, FeedbackSource>>
  /** Further plugins. */
  readonly plugins?: readonly Plugin[]
  /** Replaces options of the plugin. */
  readonly consenting?: Partial<ConsentOptions>
}

export function consentApp({
  email = recordingChannel(),
  store: wrap = (same) => same,
  rest,
  sources,
  plugins = [],
  consenting,
}: Parts = {}): ConsentApp {
  const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
  const logger = recordingLogger()
  const store = wrap(memoryStore({ clock }))
  const chat = recordingChannel([{ outcome: 'sent', providerMessageId: 'chat_1' }])
  const sallyport = createSallyport({
    ...{ auth: testAuth, events, channels: { email, chat }, store, clock, logger, ids: countingIds() },
    links: { baseUrl: 'https://app.example', keys: [KEY] },
    plugins: [
      consent({
        keys: [KEY],
        feedback: {
          resend: resend({ channel: 'email', secret: RESEND_SECRET }),
          mailgun: mailgun({ channel: 'email', signingKey: MAILGUN_KEY }),
          'resend-other': resend({ channel: 'email', secret: RESEND_SECRET, tenant: 'other' }),
          ...sources,
        },
        ...consenting,
      }),
      ...plugins,
    ],
    ...rest,
  }) as ConsentApp['sallyport']
  const fetch = toFetch(sallyport)
  let ids = 0
  return {
    ...{ sallyport, email, chat, clock, logger, store, fetch },
    async send(eventType, recipient = ADA, tenant = 'default') {
      const answer = await sallyport.dispatch({ eventType, recipient } as never, { tenant })
      expect(answer.status).toBe(202)
      await sallyport.worker.runDue()
      return answer.ok ? answer.body.dispatchId : ''
    },
    async outcomes(dispatchId) {
      const { deliveries = [] } = (await sallyport.dispatches.get(dispatchId)) ?? {}
      return deliveries.map(({ status, reason }) => (reason === undefined ? status : `${status} ${reason}`))
    },
    report(event, name = 'resend') {
      const body = JSON.stringify({ created_at: new Date(clock.now()).toISOString(), ...event })
      const id = `msg_${++ids}`
      const at = new Date(clock.now())
      const headers = {
        'svix-id': id,
        'svix-timestamp': `${Math.floor(clock.now() / 1_000)}`,
        'svix-signature': new Webhook(RESEND_SECRET).sign(id, at, body),
      }
      return fetch(feedbackRequest(name, body, headers))
    },
    async feedback(dispatchId) {
      return (await sallyport.dispatches.get(dispatchId))?.deliveries[0]?.feedback
    },
  }
}

export function feedbackRequest(
  name: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Request {
  return new Request(`https://app.example/api/outbound/feedback/${name}`, { method: 'POST', body, headers })
}

/** A request over HTTP from one of a signer, with these headers. */
export function overHttp(name: string, request: FeedbackRequest, headers: readonly string[] = []): Request {
  const given = Object.fromEntries(headers.flatMap((field) => [[field, request.header(field) ?? '']]))
  return feedbackRequest(name, new Uint8Array(request.body), given)
}

/** Data of an event of Resend about a delivery. */
export function about(deliveryId: string | undefined, more: object = {}): object {
  const tags = deliveryId === undefined ? {} : { tags: [{ name: 'sallyport_delivery_id', value: deliveryId }] }
  return { email_id: 'p1', to: [ADA], ...tags, ...more }
}

export const COMPLAINT: object = { type: 'email.complained', data: about(undefined) }
export const HARD_BOUNCE: object = { type: 'email.bounced', data: about(undefined, { bounce: { type: 'Permanent' } }) }
export const SOFT_BOUNCE: object = { type: 'email.bounced', data: about(undefined, { bounce: { type: 'Transient' } }) }

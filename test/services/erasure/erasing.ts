import { resend } from 'sallyport/feedback/resend'
import { jsonLogic } from 'sallyport/json-logic'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { ConsentApi } from '../../../src/plugins/index.ts'
import { throttle } from '../../../src/policies/index.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import { RESEND_SECRET } from '../../feedback/signers.ts'
import { HOUR_MS, KEY } from '../../plugins/consent/consenting.ts'
import { countingIds, type RecordingLogger, recordingLogger, testAuth } from '../../support/deps.ts'
import { everyPlugin } from '../../support/every-plugin.ts'
import type { FakeClock } from '../../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'

/** A recipient with every kind of personal data. */
export const PERSON = {
  id: 'user_ada',
  email: 'ada.king@example.com',
  phone: '+4915112345678',
  locale: 'de-AT',
  attributes: { name: 'Ada King' },
} as const

/** Texts that must not remain. */
export const SECRETS: readonly string[] = [
  ...['user_ada', 'ada.king', '4915112345678', 'Ada King', 'Lovelace Road', 'de-AT', 'Order 4711'],
]

const OTHER = 'grace@example.com'

const events = defineEvents(
  {
    order: {
      channels: { email: { text: ({ data, recipient }) => `${data.title} for ${recipient.attributes?.name}` } },
    },
    later: {
      delayMs: HOUR_MS,
      channels: { email: { text: ({ data }) => `${data.title}` }, sms: { text: () => 'Hi' } },
    },
    first: { route: 'first', delayMs: HOUR_MS, channels: { email: { text: () => 'Hi' }, sms: { text: () => 'Hi' } } },
    digest: {
      digest: { windowMs: HOUR_MS },
      channels: { email: { text: ({ data }) => `News: ${JSON.stringify(data)}` } },
    },
    broken: {
      channels: {
        email: {
          text() {
            throw new Error('no template')
          },
        },
      },
    },
    conditional: {
      channels: { email: { when: { '==': [{ var: 'data.street' }, 'Lovelace Road'] }, text: () => 'Hi' } },
    },
  },
  { conditions: jsonLogic() },
)

export interface ErasureApp {
  readonly sallyport: Sallyport<unknown> & ConsentApi
  readonly email: RecordingChannel
  readonly sms: RecordingChannel
  readonly logger: RecordingLogger
  /** Dispatches to a recipient. Returns the id of the dispatch. */
  send(eventType: string, recipient: string, idempotencyKey?: string): Promise<string>
}

export function erasureApp(
  store: SallyportStore,
  clock: FakeClock,
  onSend: () => Promise<void> = async () => {},
): ErasureApp {
  const logger = recordingLogger()
  const sendMail = async (): Promise<SendOutcome> => {
    await onSend()
    return { outcome: 'sent', providerMessageId: 'p1' }
  }
  const email = recordingChannel([sendMail], { concurrencyKey: (address) => address })
  const sms = recordingChannel(undefined, { address: ({ phone }) => phone })
  const sallyport = createSallyport<unknown>({
    ...{ auth: testAuth, events, channels: { email, sms }, store, clock, logger, ids: countingIds() },
    recipients: { find: async (id) => (id === PERSON.id ? PERSON : undefined) },
    policy: throttle({ max: 100, windowMs: HOUR_MS }),
    links: { baseUrl: 'https://app.example', keys: [KEY] },
    plugins: everyPlugin({
      consent: { keys: [KEY], feedback: { resend: resend({ channel: 'email', secret: RESEND_SECRET }) } },
    }),
  }) as ErasureApp['sallyport']
  return {
    ...{ sallyport, email, sms, logger },
    async send(eventType, recipient, idempotencyKey) {
      const eventData = recipient === OTHER ? { title: 'Order 12' } : { title: 'Order 4711', street: 'Lovelace Road' }
      const options = idempotencyKey === undefined ? {} : { idempotencyKey }
      const answer = await sallyport.dispatch({ eventType, recipient, eventData } as never, options)
      if (!answer.ok) throw new Error(JSON.stringify(answer.body))
      // Lists are in the order of acceptance.
      clock.advance(1)
      return 'dispatchId' in answer.body ? answer.body.dispatchId : ''
    },
  }
}

/** Stores every kind of data of the person, and some of another. */
export async function fill({ sallyport, send }: ErasureApp): Promise<readonly string[]> {
  const ids = [
    await send('order', PERSON.id, 'order-1'),
    await send('order', PERSON.email, 'order-2'),
    await send('conditional', PERSON.id, 'order-3'),
  ]
  await sallyport.worker.runDue()
  for (const eventType of ['later', 'first', 'digest', 'digest', 'broken']) ids.push(await send(eventType, PERSON.id))
  ids.push(await send('digest', PERSON.email))
  await sallyport.preferences.set(PERSON.id, { channels: { sms: true } })
  await sallyport.preferences.set(PERSON.email, { channels: { email: true } })
  await send('order', OTHER, 'other')
  await send('later', OTHER)
  return ids
}

/** A host erases each identifier of the person. */
export async function eraseAll({ sallyport }: ErasureApp): Promise<number> {
  let dispatches = 0
  for (const recipient of [PERSON.id, PERSON.email, PERSON.phone])
    dispatches += (await sallyport.dispatches.erase({ recipient })).dispatches
  return dispatches
}

/** Those of the secrets that a text contains, in any spelling. */
export function secretsIn(text: string): readonly string[] {
  const lower = text.toLowerCase()
  return SECRETS.filter((secret) => lower.includes(secret.toLowerCase()))
}

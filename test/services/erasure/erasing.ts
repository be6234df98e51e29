import { jsonLogic } from 'sallyport/json-logic'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { throttle } from '../../../src/policies/index.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import { countingIds, type RecordingLogger, recordingLogger, testAuth } from '../../support/deps.ts'
import { everyPlugin, keepInEvery } from '../../support/every-plugin.ts'
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

export const HOUR_MS = 3_600_000
const KEY = { kid: 'k1', key: new Uint8Array(32).fill(1) }

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
  readonly sallyport: Sallyport<unknown>
  readonly store: SallyportStore
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
    plugins: everyPlugin(),
  })
  return {
    ...{ sallyport, store, email, sms, logger },
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
export async function fill({ sallyport, store, send }: ErasureApp): Promise<readonly string[]> {
  const ids = [
    await send('order', PERSON.id, 'order-1'),
    await send('order', PERSON.email, 'order-2'),
    await send('conditional', PERSON.id, 'order-3'),
  ]
  await sallyport.worker.runDue()
  for (const eventType of ['later', 'first', 'digest', 'digest', 'broken']) ids.push(await send(eventType, PERSON.id))
  ids.push(await send('digest', PERSON.email))
  const [first] = (await sallyport.dispatches.get(ids[0] ?? ''))?.deliveries ?? []
  const kept = { sallyport, store, tenant: 'default', deliveryId: first?.deliveryId ?? '', text: 'code' }
  for (const recipient of [PERSON.id, PERSON.email]) await keepInEvery({ ...kept, recipient })
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

import { type Channel, createSallyport, defineEvents, type Sallyport } from 'sallyport'
import { anyOf, appSecrets, type SessionTokenKey, sessionTokens } from 'sallyport/auth'
import { jsonLogic } from 'sallyport/json-logic'
import { liquid } from 'sallyport/liquid'
import { priceBook } from 'sallyport/pricing'
import { memoryStore } from 'sallyport/storage/memory'
import * as v from 'valibot'

/** Source of the secrets: `APP_SECRET`, and `SESSION_KEYS`, a list of {@link SigningKey} as JSON. */
export type ShopEnvironment = Readonly<Record<string, string | undefined>>

/** A signing key for session tokens: base64url for `HS256`, otherwise a private JWK. */
export interface SigningKey extends SessionTokenKey {
  readonly key: string | Record<string, string>
}

/** A sent message. */
export interface Sent {
  readonly to: string
  readonly text: unknown
}

/** A host of Sallyport, the same in every runtime: it needs only the language and the web platform. */
export interface Shop {
  readonly sallyport: Sallyport<ShopEvents>
  readonly keys: readonly SigningKey[]
  /** Oldest first. */
  readonly sent: readonly Sent[]
  /** Resolves when the next delivery is stored as sent. */
  nextSent(): Promise<unknown>
}

export type ShopEvents = { readonly 'order.shipped': { orderId: string; total: number; note?: string | undefined } }

export const AUDIENCE = 'shop'

/** Opens the shop with its environment: at the start of a program, or in its first request. */
export function openShop({ APP_SECRET, SESSION_KEYS = '[]' }: ShopEnvironment): Shop {
  const keys: readonly SigningKey[] = JSON.parse(SESSION_KEYS)
  const sent: Sent[] = []
  const waiting: (() => void)[] = []
  const paper: Channel = {
    address: ({ id }) => id,
    async send({ to, content }) {
      sent.push({ to, text: content.text })
      return { outcome: 'sent' }
    },
  }
  const sallyport = createSallyport({
    auth: anyOf(appSecrets([APP_SECRET]), sessionTokens({ keys: keys.map(verifying), audience: AUDIENCE })),
    events,
    store: memoryStore(),
    channels: { paper },
    prices: priceBook({ version: '2026-11', prices: [{ model: 'gpt-5*', input: '1.25', output: '10' }] }),
    hooks: {
      onSent() {
        for (const resolve of waiting.splice(0)) resolve()
      },
    },
  })
  return { sallyport, keys, sent, nextSent: () => new Promise<void>((resolve) => void waiting.push(resolve)) }
}

const events = defineEvents(
  {
    'order.shipped': {
      data: v.object({ orderId: v.string(), total: v.number(), note: v.optional(v.string()) }),
      channels: {
        paper: {
          when: { '>': [{ var: 'data.total' }, 0] },
          text: 'Order {{ data.orderId }} shipped{% if data.note %}: {{ data.note }}{% endif %}',
        },
      },
    },
  },
  { templates: liquid(), conditions: jsonLogic() },
)

/** The verifying half of a key: the public half of a key pair. */
function verifying({ key, ...rest }: SigningKey): SessionTokenKey {
  if (typeof key === 'string') return { ...rest, key }
  const { d: _, ...publicKey } = key
  return { ...rest, key: publicKey as SessionTokenKey['key'] }
}

import type { IncomingMessage } from 'node:http'

/** A response of a provider, from its public documentation. */
export interface ProviderAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The documented behaviour of one chat provider. */
export interface ChatProvider {
  /** The required path of a request, query included. */
  readonly path: string
  /** The text of a valid message; `undefined` if the provider refuses the body. */
  textOf(json: Record<string, unknown>): string | undefined
  readonly accepted: ProviderAnswer
  readonly messageId?: string
  readonly rejected: ProviderAnswer
  readonly limited: ProviderAnswer
  /** The wait that `limited` asks for. */
  readonly waitMs: number
}

const json = (status: number, value: unknown, headers = {}): ProviderAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

export const SECRET = 'B0verySecretT0ken'
export const CHATTER = 'mailbox of ada is on fire'

export const slackProvider: ChatProvider = {
  path: `/services/T000/${SECRET}`,
  textOf: (message) => text(message.text),
  accepted: { status: 200, headers: { 'content-type': 'text/html' }, body: 'ok' },
  rejected: { status: 410, body: `channel_is_archived ${CHATTER}` },
  limited: json(429, { ok: false, error: `rate_limited ${CHATTER}` }, { 'retry-after': '30' }),
  waitMs: 30_000,
}

export const discordProvider: ChatProvider = {
  path: `/api/webhooks/1234/${SECRET}?wait=true`,
  textOf: (message) => {
    const noPings = JSON.stringify(message.allowed_mentions) === '{"parse":[]}'
    return noPings && String(message.content).length <= 2_000 ? text(message.content) : undefined
  },
  accepted: json(200, { id: '1290000000000000001', type: 0, webhook_id: '1234' }),
  messageId: '1290000000000000001',
  rejected: json(404, { message: `Unknown Webhook ${CHATTER}`, code: 10_015 }),
  limited: json(429, { message: CHATTER, retry_after: 64.57, global: false }, { 'retry-after': '65' }),
  waitMs: 64_570,
}

export const teamsProvider: ChatProvider = {
  path: `/workflows/abc/triggers/manual/paths/invoke?api-version=1&sig=${SECRET}`,
  textOf(message) {
    const [attachment] = message.type === 'message' && Array.isArray(message.attachments) ? message.attachments : []
    if (attachment?.contentType !== 'application/vnd.microsoft.card.adaptive') return undefined
    const { type, version, body } = attachment.content
    if (type !== 'AdaptiveCard' || version !== '1.4' || body[0]?.type !== 'RichTextBlock') return undefined
    const [run] = body[0].inlines
    return run?.type === 'TextRun' ? text(run.text) : undefined
  },
  accepted: { status: 202 },
  rejected: json(401, { error: { code: 'DirectApiAuthorizationRequired', message: CHATTER } }),
  limited: json(429, { error: { message: CHATTER } }, { 'retry-after': '17' }),
  waitMs: 17_000,
}

export const telegramProvider: ChatProvider = {
  path: `/bot42:${SECRET}/sendMessage`,
  textOf: (message) =>
    message.chat_id === '-1001' && !('parse_mode' in message) && String(message.text).length <= 4_096
      ? text(message.text)
      : undefined,
  accepted: json(200, { ok: true, result: { message_id: 77, date: 1_795_248_000, chat: { id: -1001 } } }),
  messageId: '77',
  rejected: json(403, { ok: false, error_code: 403, description: `Forbidden: ${CHATTER}` }),
  limited: json(429, { ok: false, error_code: 429, description: CHATTER, parameters: { retry_after: 34 } }),
  waitMs: 34_000,
}

/** Whether the request has the documented form. */
export function fits(provider: ChatProvider, { method, headers, url }: IncomingMessage): boolean {
  return method === 'POST' && headers['content-type'] === 'application/json' && url === provider.path
}

import { type Call, call, type Reply } from '../../support/host-call.ts'
import type { SigningKey } from './hosts/shop.ts'

/** Secrets in the environment of a runtime's program. */
export interface Secrets {
  readonly appSecret: string
  readonly keys: readonly SigningKey[]
}

/** A runtime with the shop, in one mount. */
export interface Target {
  /** `Bun 1.4.5`, `Node 22.23.3, toNode`. */
  readonly name: string
  readonly origin: string
  readonly secrets: Secrets
  /** Delivers accepted events after the answer, without a call of the worker. */
  readonly waitsUntil: boolean
}

/** Posts as an application, or with the given token. */
export function post(
  target: Target,
  path: string,
  body: unknown,
  more: Call & { token?: string } = {},
): Promise<Reply> {
  const { token = target.secrets.appSecret, headers, ...rest } = more
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return call(`${target.origin}${path}`, {
    body: text,
    ...rest,
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
}

export const DISPATCH = '/api/outbound/dispatch'
export const RUN = '/api/agents/session/run'

/** Accepts an order for a recipient, and gives the answer. */
export function dispatch(target: Target, recipient: string, more: Call & { note?: string } = {}): Promise<Reply> {
  const { note, ...rest } = more
  const eventData = { orderId: 'A-1', total: 20, ...(note !== undefined && { note }) }
  return post(target, DISPATCH, { eventType: 'order.shipped', recipient, eventData }, rest)
}

/** The result of one of the shop's own paths. A fault there is thrown. */
export async function own<Answer>(target: Target, task: string, body?: unknown): Promise<Answer> {
  const { status, text, json } = await post(target, `/own/${task}`, body ?? {})
  if (status !== 200) throw new Error(`/own/${task} was answered ${status}: ${text}`)
  return json
}

import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { TOKEN } from './host-endpoints.ts'

export interface Call {
  readonly method?: string
  /** Added to a valid token and `application/json`; `undefined` removes a header. */
  readonly headers?: OutgoingHttpHeaders
  /** One piece is sent with a Content-Length, several are sent chunked. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[]
  readonly agent?: Agent
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is there
  readonly json: any
  /** The local port of the connection. */
  readonly port: number | undefined
}

/** Sends one request, on a new connection unless an agent is given, and reads the whole answer. */
export function call(url: string, { method = 'POST', headers = {}, body, agent }: Call = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: agent ?? false, headers: withDefaults(headers, body) }, (answer) => {
      const { localPort } = answer.socket
      const chunks: Buffer[] = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => resolve(replyOf(answer.statusCode ?? 0, answer.headers, Buffer.concat(chunks), localPort)))
    })
    sent.on('error', reject)
    for (const piece of typeof body === 'string' || body instanceof Uint8Array ? [] : (body ?? [])) sent.write(piece)
    sent.end(typeof body === 'string' || body instanceof Uint8Array ? body : undefined)
  })
}

/** Starts a request whose body stalls after its first half. */
export function half(
  url: string,
  first: string,
  more: OutgoingHttpHeaders = {},
): { leave(): void; finish(rest: string): void; reply: Promise<Reply> } {
  const headers = withDefaults({ 'transfer-encoding': 'chunked', ...more }, undefined)
  const sent = request(url, { method: 'POST', agent: false, headers })
  const reply = new Promise<Reply>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('end', () => resolve(replyOf(answer.statusCode ?? 0, answer.headers, Buffer.concat(chunks), undefined)))
    })
  })
  sent.write(first)
  return { leave: () => sent.destroy(), finish: (rest) => sent.end(rest), reply }
}

function withDefaults(headers: OutgoingHttpHeaders, body: Call['body']): OutgoingHttpHeaders {
  const all: OutgoingHttpHeaders = { authorization: TOKEN, 'content-type': 'application/json', ...headers }
  if (typeof body === 'string' || body instanceof Uint8Array) all['content-length'] ??= Buffer.byteLength(body)
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function replyOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer, port: number | undefined): Reply {
  const text = bytes.toString()
  const json = headers['content-type']?.includes('json') && text !== '' ? JSON.parse(text) : undefined
  return { status, headers, bytes, text, json, port }
}

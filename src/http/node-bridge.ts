import { Buffer } from 'node:buffer'
import type { HandlerRequest } from '../core/answers/result.ts'
import type { Endpoints } from '../core/endpoints.ts'
import type { Clock } from '../ports/clock.ts'
import { answer } from './answer.ts'
import { type HostBody, LINGER_BYTES, LINGER_MS, type Pump } from './body-reader.ts'
import type { Target } from './routes.ts'
import { closing, hasNoBody, type Wire } from './wire.ts'

export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly rawHeaders: readonly string[]
  readonly httpVersionMajor: number
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableEnded: boolean
  readonly readableDidRead: boolean
  readonly readableLength: number
  /** Absent in test requests without a connection. */
  readonly socket?: { readonly destroyed: boolean } | null
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: string, listener: () => void): unknown
  /** Set by Express and Connect: the URL before a mount removed its prefix. */
  readonly originalUrl?: string | undefined
  read(): Uint8Array | string | null
  pause(): unknown
  resume(): unknown
}

export interface NodeResponse {
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  writeHead(status: number, headers: Record<string, string | number>): unknown
  write(text: string): unknown
  end(): unknown
  end(text: string): unknown
  destroy(): unknown
}

export function isNodeResponse(given: unknown): given is NodeResponse {
  return typeof given === 'object' && given !== null && 'writeHead' in given
}

export interface NodeAnswer {
  readonly wire: Wire
  /** The connection closes after it, because the request is incomplete. */
  readonly isLast: boolean
}

/** The host's own request: what its parser has left, read only when the stream has been read. */
export interface HostRequest {
  readonly body?: unknown
  /** The exact bytes or the text of the body. */
  readonly rawBody?: unknown
  readonly originalUrl?: string | undefined
}

/**
 * Answers a Node request.
 *
 * @param given What the framework gave. Default: `host`.
 */
export async function answerNode(
  endpoints: Endpoints,
  target: Target,
  req: NodeRequest,
  host: HostRequest,
  given: object = host,
): Promise<NodeAnswer> {
  let isTaken = false
  const wire = await answer(endpoints, target, {
    method: req.method ?? '',
    url: req.originalUrl ?? host.originalUrl ?? req.url ?? '',
    headers: headersOf(req),
    given: [given],
    body() {
      isTaken = isBuffered(req)
      return isTaken ? { kind: 'left', value: takeBuffered(req) } : bodyOf(req, host)
    },
    hasLeft: () => req.socket?.destroyed === true,
  })
  return isTaken ? { wire: closeIfStopping(endpoints, req, wire), isLast: false } : nodeAnswer(endpoints, req, wire)
}

/** Closes the connection after the answer when part of the body is still to arrive. HTTP/2 has no header for that. */
export function nodeAnswer(endpoints: Endpoints, req: NodeRequest, wire: Wire): NodeAnswer {
  const isLast = !hasArrived(req)
  return { wire: isLast && req.httpVersionMajor === 1 ? closing(wire) : closeIfStopping(endpoints, req, wire), isLast }
}

/** Closes the connection with the host's own answer, when the host stops: see {@link closesConnection}. */
export function closeHostAnswer(endpoints: Endpoints, req: NodeRequest, res: NodeResponse): void {
  if (!res.headersSent && closesConnection(endpoints, req)) res.setHeader('connection', 'close')
}

function closeIfStopping(endpoints: Endpoints, req: NodeRequest, wire: Wire): Wire {
  return closesConnection(endpoints, req) ? closing(wire) : wire
}

/** True when the host stops: a busy keep-alive caller would keep the server from closing. HTTP/2 forbids the header. */
function closesConnection(endpoints: Endpoints, { httpVersionMajor }: NodeRequest): boolean {
  return httpVersionMajor === 1 && endpoints.isStopping()
}

/** Writes an answer directly. The last one of a connection ends after {@link linger}. A response that throws is destroyed. */
export function sendAnswer(req: NodeRequest, res: NodeResponse, { wire, isLast }: NodeAnswer, clock: Clock): void {
  if (res.headersSent) return
  const { status, headers, text } = wire
  try {
    res.writeHead(
      status,
      hasNoBody(status) ? { ...headers } : { 'content-length': Buffer.byteLength(text), ...headers },
    )
    if (req.method === 'HEAD') return void res.end()
    if (!isLast) return void res.end(text)
    res.write(text)
  } catch (error) {
    if (res.headersSent) res.destroy()
    throw error
  }
  linger(req, clock)
    .then(() => res.end())
    .catch(() => res.destroy())
}

/** True if the whole body has arrived, read or not. The parser may have received all of it but not yet its end. */
function hasArrived({ complete, destroyed, headers, readableLength }: NodeRequest): boolean {
  if (complete || destroyed) return true
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === readableLength
}

/** Drops the rest of a refused body, within limits: closing with unread bytes resets the connection, perhaps before the answer. */
function linger(req: NodeRequest, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let left = LINGER_BYTES
    const done = (): void => {
      cancelTimeout()
      req.pause()
      resolve()
    }
    const cancelTimeout = clock.after(LINGER_MS, done)
    req.on('data', (chunk) => {
      left -= chunk.length
      if (left < 0) req.pause()
    })
    req.on('end', done)
    req.on('close', done)
    req.resume()
  })
}

/** Lists repeated Authorization headers: Node keeps the first, and dropping the others would accept an ambiguous request. */
function headersOf({ headers, rawHeaders }: NodeRequest): HandlerRequest['headers'] {
  if (headers.authorization === undefined) return headers
  const sent: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 13 && name.toLowerCase() === 'authorization') sent.push(rawHeaders[at + 1] ?? '')
  }
  return sent.length > 1 ? { ...headers, authorization: sent } : headers
}

/** Relies on the stream, not on the parsed body: a parser that skips a request may still set an empty object (Express 4 does). */
function bodyOf(req: NodeRequest, host: HostRequest): HostBody {
  if (!req.readableEnded && !req.readableDidRead) return { kind: 'stream', pump: pumpOf(req) }
  const { body: value, rawBody: raw } = host
  return value === undefined ? { kind: 'consumed', raw } : { kind: 'left', value, raw }
}

/** True if the whole body arrived with its headers, as usual: it needs no listeners and no timer. */
function isBuffered({ headers, readableLength, readableDidRead, destroyed }: NodeRequest): boolean {
  if (readableLength === 0 || readableDidRead || destroyed || headers['transfer-encoding'] !== undefined) return false
  return headers['content-length'] === String(readableLength)
}

function takeBuffered(req: NodeRequest): unknown {
  const body = req.read()
  // Reads to the end, so that the stream closes.
  req.resume()
  return body ?? ''
}

/** Uses listeners, not an iterator: half the cost. */
function pumpOf(req: NodeRequest): Pump {
  return (sink) => {
    req.on('data', sink.chunk)
    req.on('end', sink.end)
    req.on('error', sink.broken)
    req.on('close', sink.broken)
    if (req.destroyed) queueMicrotask(sink.broken)
    return () => req.pause()
  }
}

import { Buffer } from 'node:buffer'
import type { Endpoints } from '../core/endpoints.ts'
import type { HandlerRequest } from '../core/result.ts'
import { answer, type Wire } from './answer.ts'
import { BODY_TIMEOUT_MS, type HostBody, type Pump } from './body-reader.ts'
import type { Target } from './routes.ts'

/** What is used of an `IncomingMessage`. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly rawHeaders: readonly string[]
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableEnded: boolean
  readonly readableDidRead: boolean
  readonly readableLength: number
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: string, listener: () => void): unknown
  read(): Uint8Array | string | null
  resume(): unknown
  destroy(): unknown
}

/** What is used of a `ServerResponse`. */
export interface NodeResponse {
  readonly headersSent: boolean
  writeHead(status: number, headers: Record<string, string | number>): unknown
  end(text: string): unknown
}

/** Answers a Node request. `leftBody` gives what the host's parser left; it is asked only when the stream was read. */
export async function answerNode(
  endpoints: Endpoints,
  target: Target,
  req: NodeRequest,
  leftBody: () => unknown,
): Promise<Wire> {
  let isTaken = false
  const wire = await answer(endpoints, target, {
    method: req.method ?? '',
    headers: headersOf(req),
    body() {
      isTaken = isHere(req)
      return isTaken ? { kind: 'left', value: takeWhole(req) } : bodyOf(req, leftBody)
    },
  })
  return isTaken || req.complete || req.destroyed ? wire : leaveBody(endpoints, req, wire)
}

/** Writes an answer, past whatever the framework's `send` would add. A caller who has left gets none. */
export function send(res: NodeResponse, { status, headers, text }: Wire): void {
  if (res.headersSent) return
  res.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers })
  res.end(text)
}

/** Node keeps the first of several Authorization headers; the others must not go unseen. */
function headersOf({ headers, rawHeaders }: NodeRequest): HandlerRequest['headers'] {
  if (headers.authorization === undefined) return headers
  const sent: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 13 && name.toLowerCase() === 'authorization') sent.push(rawHeaders[at + 1] ?? '')
  }
  return sent.length > 1 ? { ...headers, authorization: sent } : headers
}

/**
 * Whether the host parsed the body is told by the stream alone: a parser that passes a request over may still leave an empty
 * object (Express 4 does), with the stream unread.
 */
function bodyOf(req: NodeRequest, leftBody: () => unknown): HostBody {
  if (!req.readableEnded && !req.readableDidRead) return { kind: 'stream', pump: pumpOf(req) }
  const value = leftBody()
  return value === undefined ? { kind: 'consumed' } : { kind: 'left', value }
}

/** Whether the whole body came with its headers, as most do: it needs no listeners and no timer. */
function isHere({ headers, readableLength, readableDidRead, destroyed }: NodeRequest): boolean {
  if (readableLength === 0 || readableDidRead || destroyed || headers['transfer-encoding'] !== undefined) return false
  return headers['content-length'] === String(readableLength)
}

function takeWhole(req: NodeRequest): unknown {
  const body = req.read()
  // On to its end, which is empty, so that the stream closes as any other.
  req.resume()
  return body ?? ''
}

/** Listeners, not an iterator: half the cost. They stay on after a refusal, so that what still comes is dropped. */
function pumpOf(req: NodeRequest): Pump {
  return (sink) => {
    req.on('data', sink.chunk)
    req.on('end', sink.end)
    req.on('error', sink.broken)
    req.on('close', sink.broken)
    if (req.destroyed) queueMicrotask(sink.broken)
    return () => {}
  }
}

/**
 * Sees to a body that is still arriving after its request was answered. It is let by, so that the connection can be used
 * again, but for no longer than any other body; one that came too late has had its time.
 */
function leaveBody({ clock }: Endpoints, req: NodeRequest, wire: Wire): Wire {
  if (wire.status === 408) return { ...wire, headers: { ...wire.headers, connection: 'close' } }
  req.resume()
  const callOff = clock.after(BODY_TIMEOUT_MS, () => req.destroy())
  req.on('close', callOff)
  return wire
}

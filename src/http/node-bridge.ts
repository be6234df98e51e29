import { Buffer } from 'node:buffer'
import type { HandlerRequest } from '../core/answers/result.ts'
import type { Endpoints } from '../core/endpoints.ts'
import type { Clock } from '../ports/clock.ts'
import { answer, closing, type Wire } from './answer.ts'
import { type HostBody, LINGER_BYTES, LINGER_MS, type Pump } from './body-reader.ts'
import { endingWith } from './connection-end.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'
import type { Target } from './routes.ts'

/** An answer to a Node request. */
export interface NodeAnswer {
  readonly wire: Wire
  /** Whether the connection closes after it, because the request has not come to its end. */
  readonly isLast: boolean
}

/** Answers a Node request. `leftBody` gives what the host's parser left; it is asked only when the stream was read. */
export async function answerNode(
  endpoints: Endpoints,
  target: Target,
  req: NodeRequest,
  leftBody: () => unknown,
): Promise<NodeAnswer> {
  let isTaken = false
  const wire = await answer(endpoints, target, {
    method: req.method ?? '',
    headers: headersOf(req),
    body() {
      isTaken = isHere(req)
      return isTaken ? { kind: 'left', value: takeWhole(req) } : bodyOf(req, leftBody)
    },
    hasLeft: () => req.socket?.destroyed === true,
  })
  return isTaken ? { wire: endingWith(endpoints, req, wire), isLast: false } : nodeAnswer(endpoints, req, wire)
}

/**
 * An answer to a request whose body nobody has taken. When part of it is still to come, the connection closes after the answer.
 * HTTP/2 has no header for that: its streams end by themselves.
 */
export function nodeAnswer(endpoints: Endpoints, req: NodeRequest, wire: Wire): NodeAnswer {
  const isLast = !hasArrived(req)
  return { wire: isLast && req.httpVersionMajor === 1 ? closing(wire) : endingWith(endpoints, req, wire), isLast }
}

/**
 * Writes an answer, past whatever the framework's `send` would add. A caller who has left gets none. The last one of a connection is
 * written at once; it ends, and the connection with it, when {@link linger} says so. Where the response throws, as one that middleware
 * has wrapped may, an answer that has begun is broken off: nobody else could end it, and its caller would wait.
 */
export function sendAnswer(req: NodeRequest, res: NodeResponse, { wire, isLast }: NodeAnswer, clock: Clock): void {
  if (res.headersSent) return
  const { status, headers, text } = wire
  try {
    res.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers })
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

/** Whether the whole body is here, read or not. The parser may have seen all of it and not yet its end. */
function hasArrived({ complete, destroyed, headers, readableLength }: NodeRequest): boolean {
  if (complete || destroyed) return true
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === readableLength
}

/**
 * Drops what still comes of a refused body: at most {@link LINGER_BYTES}, after which nothing is read any more. Resolves when the body
 * has come to its end, its caller has left, or {@link LINGER_MS} have passed. To close a connection on which unread bytes have arrived is
 * to reset it, and a reset can overtake the answer; so the caller is given this long to read it.
 */
function linger(req: NodeRequest, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let left = LINGER_BYTES
    const done = (): void => {
      callOff()
      req.pause()
      resolve()
    }
    const callOff = clock.after(LINGER_MS, done)
    req.on('data', (chunk) => {
      left -= chunk.length
      if (left < 0) req.pause()
    })
    req.on('end', done)
    req.on('close', done)
    req.resume()
  })
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

/** Listeners, not an iterator: half the cost. */
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

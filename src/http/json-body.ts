import { giveWay } from '../core/give-way.ts'
import { type HandlerRequest, isRefused, type Refused, refuse } from '../core/result.ts'
import type { Clock } from '../ports/clock.ts'
import { type HostBody, readBody, readWhole, tooLarge } from './body-reader.ts'

/** A body's JSON value, boxed: the value itself may look like anything. */
export interface Json {
  readonly json: unknown
}

/**
 * Gets the JSON out of whatever the host hands over: a stream is read, text and bytes that a parser left are parsed, and any
 * other value that it left is taken as it is. A byte order mark is dropped (RFC 8259 section 8.1 lets a parser do so).
 */
export function jsonOf(
  body: HostBody,
  headers: HandlerRequest['headers'],
  maxBytes: number,
  clock: Clock,
): Json | Refused | Promise<Json | Refused> {
  // Where there is a Transfer-Encoding, a Content-Length says nothing about the body (RFC 9112 section 6.3).
  const declared = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : 0
  if (declared > maxBytes) return tooLarge(maxBytes)
  if (body.kind === 'consumed') return alreadyConsumed()
  if (body.kind === 'left') return left(body.value, maxBytes)
  if (body.kind === 'whole') {
    return readWhole(body.bytes(), maxBytes, clock).then((bytes) => {
      if (!isRefused(bytes)) return parseApart(bytes, clock)
      return body.isTaken() ? alreadyConsumed() : bytes
    })
  }
  return readBody(body.pump, maxBytes, clock).then((bytes) => (isRefused(bytes) ? bytes : parseApart(bytes, clock)))
}

const LONG_BYTES = 65_536

/** What is long takes long to parse, and then to look through: others have their turn in between. */
function parseApart(bytes: Uint8Array, clock: Clock): Json | Refused | Promise<Json | Refused> {
  const parsed = parse(bytes)
  return bytes.byteLength > LONG_BYTES ? giveWay(clock).then(() => parsed) : parsed
}

function left(value: unknown, maxBytes: number): Json | Refused {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  if (!(bytes instanceof Uint8Array)) return { json: bytes }
  return bytes.byteLength > maxBytes ? tooLarge(maxBytes) : parse(bytes)
}

/** Made once, at the first body: making it costs more than most decoding. Whole texts leave nothing behind in it. */
let utf8: InstanceType<typeof TextDecoder> | undefined

function parse(bytes: Uint8Array): Json | Refused {
  if (bytes.byteLength === 0) return refuse('invalid_json', 'The body is empty. Send a JSON object.')
  let text: string
  try {
    utf8 ??= new TextDecoder('utf-8', { fatal: true })
    text = utf8.decode(bytes)
  } catch {
    return refuse('invalid_json', 'The body is not valid UTF-8.')
  }
  try {
    return { json: JSON.parse(text) }
  } catch {
    // The engine's own message quotes the body.
    return refuse('invalid_json', 'The body is not well-formed JSON.')
  }
}

function alreadyConsumed(): Refused {
  const detail = [
    'Something in the host read the body before Sallyport, and left nothing of it.',
    'Mount Sallyport before what reads the body, or let that keep its result:',
    'in req.body (Express, node:http) or ctx.request.body (Koa). Under fetch, pass a request that is still unread.',
  ]
  return refuse('body_already_consumed', detail.join(' '))
}

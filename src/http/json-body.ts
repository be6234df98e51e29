import { type HandlerRequest, isRefused, type Refused, refuse } from '../core/answers/result.ts'
import { yieldToEventLoop } from '../core/time-out.ts'
import type { Clock } from '../ports/clock.ts'
import { alreadyConsumed, type HostBody, type ReadOptions, readBody, readWholeBody, tooLarge } from './body-reader.ts'

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
  options: ReadOptions,
): Json | Refused | Promise<Json | Refused> {
  const { maxBytes, clock } = options
  const length = declaredLength(headers)
  if (Number.isNaN(length)) return refuse('invalid_json', 'The Content-Length is no whole number.')
  if (length !== undefined && length > maxBytes) return tooLarge(maxBytes)
  if (body.kind === 'consumed') return alreadyConsumed()
  if (body.kind === 'left') return left(body.value, maxBytes)
  const reading =
    body.kind === 'whole' ? readWholeBody(body, length ?? 0, options) : readBody(body.pump, length, options)
  return reading.then((bytes) => (isRefused(bytes) ? bytes : parseApart(bytes, clock)))
}

/** Where there is a Transfer-Encoding, a Content-Length says nothing about the body (RFC 9112 section 6.3). `NaN`: it is none. */
export function declaredLength(headers: HandlerRequest['headers']): number | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  if (length === undefined || encoding !== undefined) return undefined
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : Number.NaN
}

const LONG_BYTES = 65_536

/** What is long takes long to parse, and then to look through: others have their turn in between. */
function parseApart(bytes: Uint8Array, clock: Clock): Json | Refused | Promise<Json | Refused> {
  const parsed = parse(bytes)
  return bytes.byteLength > LONG_BYTES ? yieldToEventLoop(clock).then(() => parsed) : parsed
}

/** A text is held against the limit by its length in UTF-8, which is encoded only where it may be over. */
function left(value: unknown, maxBytes: number): Json | Refused {
  if (value instanceof Uint8Array) return value.byteLength > maxBytes ? tooLarge(maxBytes) : parse(value)
  if (typeof value !== 'string') return { json: value }
  const isOver =
    value.length > maxBytes || (value.length * 3 > maxBytes && new TextEncoder().encode(value).byteLength > maxBytes)
  return isOver ? tooLarge(maxBytes) : parseText(value.startsWith('\uFEFF') ? value.slice(1) : value)
}

/** Made once, at the first body: making it costs more than most decoding. Whole texts leave nothing behind in it. */
let utf8: InstanceType<typeof TextDecoder> | undefined

function parse(bytes: Uint8Array): Json | Refused {
  try {
    utf8 ??= new TextDecoder('utf-8', { fatal: true })
    return parseText(utf8.decode(bytes))
  } catch {
    return refuse('invalid_json', 'The body is not valid UTF-8.')
  }
}

function parseText(text: string): Json | Refused {
  if (text === '') return refuse('invalid_json', 'The body is empty. Send a JSON object.')
  try {
    return { json: JSON.parse(text) }
  } catch {
    // The engine's own message quotes the body.
    return refuse('invalid_json', 'The body is not well-formed JSON.')
  }
}

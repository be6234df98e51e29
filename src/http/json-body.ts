import { type HandlerRequest, isRefused, type Refused, refuse } from '../core/answers/result.ts'
import { yieldToEventLoop } from '../core/yield-to-event-loop.ts'
import type { Clock } from '../ports/clock.ts'
import { alreadyConsumed, type HostBody, type ReadOptions, readStream, readWhole, tooLarge } from './body-reader.ts'

/** The JSON value of a body, wrapped to tell it from a refusal. */
export interface Json {
  readonly json: unknown
}

/**
 * Gives the JSON value of a body: reads a stream, parses text and bytes that the host's parser left, and takes any other value that it
 * left as it is. Drops a byte order mark (RFC 8259 section 8.1 permits it).
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
  const reading = body.kind === 'whole' ? readWhole(body, length ?? 0, options) : readStream(body.pump, length, options)
  return reading.then((bytes) => (isRefused(bytes) ? bytes : parseAndYield(bytes, clock)))
}

/** The Content-Length, ignored where there is a Transfer-Encoding (RFC 9112 section 6.3). `NaN`: it is not a whole number. */
export function declaredLength(headers: HandlerRequest['headers']): number | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  if (length === undefined || encoding !== undefined) return undefined
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : Number.NaN
}

const LONG_BYTES = 65_536

/** Yields to the event loop between parsing a long body and validating it. */
function parseAndYield(bytes: Uint8Array, clock: Clock): Json | Refused | Promise<Json | Refused> {
  const parsed = parse(bytes)
  return bytes.byteLength > LONG_BYTES ? yieldToEventLoop(clock).then(() => parsed) : parsed
}

/** The limit applies to the UTF-8 length of a text, which is computed only where it may be over. */
function left(value: unknown, maxBytes: number): Json | Refused {
  if (value instanceof Uint8Array) return value.byteLength > maxBytes ? tooLarge(maxBytes) : parse(value)
  if (typeof value !== 'string') return { json: value }
  const isOver =
    value.length > maxBytes || (value.length * 3 > maxBytes && new TextEncoder().encode(value).byteLength > maxBytes)
  return isOver ? tooLarge(maxBytes) : parseText(value.startsWith('\uFEFF') ? value.slice(1) : value)
}

/** Created once, at the first body: creating it costs more than most decoding. It keeps no state between whole texts. */
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
    // The engine's message would quote the body.
    return refuse('invalid_json', 'The body is not well-formed JSON.')
  }
}

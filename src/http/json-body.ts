import { type HandlerRequest, isRefused, type Refused, refuse } from '../core/answers/result.ts'
import { yieldToEventLoop } from '../core/yield-to-event-loop.ts'
import type { Clock } from '../ports/clock.ts'
import { type HostBody, type ReadOptions, receive } from './body-reader.ts'

/** The JSON value of a body, wrapped to distinguish it from a refusal. */
export interface Json {
  readonly json: unknown
}

/** Returns a body's JSON value; values of the host's parser pass unchanged. Drops a byte order mark (RFC 8259 section 8.1). */
export function jsonOf(
  body: HostBody,
  headers: HandlerRequest['headers'],
  options: ReadOptions,
): Json | Refused | Promise<Json | Refused> {
  const received = receive(body, headers, options)
  if (received instanceof Uint8Array) return parse(received)
  if (received instanceof Promise) {
    return received.then((bytes) => (isRefused(bytes) ? bytes : parseAndYield(bytes, options.clock)))
  }
  if (typeof received === 'string') return parseText(received.startsWith('\uFEFF') ? received.slice(1) : received)
  return received ?? { json: body.kind === 'left' ? body.value : undefined }
}

const LONG_BYTES = 65_536

/** Yields to the event loop between parsing a long body and validating it. */
function parseAndYield(bytes: Uint8Array, clock: Clock): Json | Refused | Promise<Json | Refused> {
  const parsed = parse(bytes)
  return bytes.byteLength > LONG_BYTES ? yieldToEventLoop(clock).then(() => parsed) : parsed
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

import { type HandlerRequest, isRefused, type Refused, refuse } from '../core/answers/result.ts'
import { overloaded } from '../core/load/load-limits.ts'
import type { UnfinishedBody } from '../core/load/unfinished-bodies.ts'
import { yieldToEventLoop } from '../core/yield-to-event-loop.ts'
import type { Clock } from '../ports/clock.ts'

const BODY_TIMEOUT_MS = 10_000

/** Limits of the data that is still read from a refused body, so that the caller can read the answer. */
export const LINGER_BYTES = 65_536
export const LINGER_MS = 1_000

/** Receives a body. Calls after the first `end` or `broken`, and after a refusal, have no effect. */
export interface BodySink {
  chunk(bytes: Uint8Array | string): void
  end(): void
  /** The body stays incomplete: the caller has disconnected, or the stream failed. */
  broken(): void
}

/** Starts the flow of a body into a sink, after it has returned. Returns a function for a refusal before the end. */
export type Pump = (sink: BodySink) => () => void

/** A body read in one call. A request made in this process may declare a false length. `isTaken`: another reader has the body. */
interface WholeBody {
  bytes(): Promise<ArrayBuffer>
  isTaken(): boolean
}

export type HostBody =
  | { readonly kind: 'stream'; readonly pump: Pump }
  | ({ readonly kind: 'whole' } & WholeBody)
  /** The host has read it and kept this: the bytes, the text, or the JSON value. */
  | { readonly kind: 'left'; readonly value: unknown }
  /** The host has read it and kept nothing. */
  | { readonly kind: 'consumed' }

export interface ReadOptions {
  readonly maxBytes: number
  readonly clock: Clock
  /** Reserves a share of the budget of unfinished bodies; `undefined`: the budget is spent. As in {@link UnfinishedBodies}. */
  begin(refuse: () => void): UnfinishedBody | undefined
}

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
  const { maxBytes, clock } = options
  const length = declaredLength(headers)
  if (Number.isNaN(length)) return refuse('invalid_json', 'The Content-Length is no whole number.')
  if (length !== undefined && length > maxBytes) return tooLarge(maxBytes)
  if (body.kind === 'consumed') return alreadyConsumed()
  if (body.kind === 'left') return left(body.value, maxBytes)
  const reading = body.kind === 'whole' ? readWhole(body, length ?? 0, options) : readStream(body.pump, length, options)
  return reading.then((bytes) => (isRefused(bytes) ? bytes : parseAndYield(bytes, clock)))
}

/** Content-Length, ignored with a Transfer-Encoding (RFC 9112 section 6.3). `NaN`: not a whole number. */
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

/** Applies the limit to the UTF-8 length of a text, which is computed only near the limit. */
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

/**
 * Reads a stream of at most `maxBytes` within {@link BODY_TIMEOUT_MS}. Always settles, never rejects.
 *
 * @param length Its declared length, at most `maxBytes`. Nothing is reserved for bytes that have not arrived.
 */
export function readStream(
  pump: Pump,
  length: number | undefined,
  { maxBytes, clock, begin }: ReadOptions,
): Promise<Uint8Array | Refused> {
  return new Promise((resolve) => {
    const share = begin(() => refuseWith(overloaded()))
    if (!share) return resolve(overloaded())
    let stop = (): void => {}
    let buffer: GrowingBuffer | undefined = new GrowingBuffer(length ?? maxBytes)
    const settle = (outcome: Uint8Array | Refused): void => {
      // Listeners may outlive the read, and must not keep the bytes.
      buffer = undefined
      cancelTimeout()
      share.release()
      resolve(outcome)
    }
    const refuseWith = (refused: Refused): void => {
      settle(refused)
      stop()
    }
    const cancelTimeout = clock.after(BODY_TIMEOUT_MS, () => refuseWith(tooSlow()))
    const sink: BodySink = {
      chunk(bytes) {
        if (!buffer) return
        const piece = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes
        if (buffer.size + piece.byteLength > maxBytes) return refuseWith(tooLarge(maxBytes))
        // May refuse this body.
        share.hold(buffer.reservedWith(piece.byteLength))
        buffer?.append(piece)
      },
      end: () => buffer && settle(buffer.whole()),
      broken: () => buffer && settle(brokenOff()),
    }
    try {
      stop = pump(sink)
    } catch {
      sink.broken()
    }
  })
}

/** Reads a body of known length in one call, under the same limits as {@link readStream}. */
export function readWhole(
  { bytes, isTaken }: WholeBody,
  length: number,
  { maxBytes, clock, begin }: ReadOptions,
): Promise<Uint8Array | Refused> {
  return new Promise((resolve) => {
    let isSettled = false
    const settle = (outcome: Uint8Array | Refused): void => {
      isSettled = true
      cancelTimeout()
      share?.release()
      resolve(outcome)
    }
    const cancelTimeout = clock.after(BODY_TIMEOUT_MS, () => settle(tooSlow()))
    const share = begin(() => settle(overloaded()))
    if (!share) return settle(overloaded())
    share.hold(length)
    if (isSettled) return
    bytes().then(
      (read) => settle(read.byteLength > maxBytes ? tooLarge(maxBytes) : new Uint8Array(read)),
      () => settle(isTaken() ? alreadyConsumed() : brokenOff()),
    )
  })
}

/** Minimum reservation: below it, growing costs more than it saves. */
const LEAST_BYTES = 1_024

/** Collects a body in one buffer. Reserves at most twice the received bytes, or 1 KiB, and never more than `greatest`. */
export class GrowingBuffer {
  readonly #greatest: number
  #bytes: Uint8Array = new Uint8Array(0)
  #size = 0

  /** @param greatest The length of the body if known, otherwise its limit. */
  constructor(greatest: number) {
    this.#greatest = greatest
  }

  get size(): number {
    return this.#size
  }

  reservedWith(more: number): number {
    const size = this.#size + more
    if (size <= this.#bytes.byteLength) return this.#bytes.byteLength
    return Math.max(size, Math.min(this.#greatest, Math.max(LEAST_BYTES, 2 * size)))
  }

  append(piece: Uint8Array): void {
    const reserved = this.reservedWith(piece.byteLength)
    if (reserved > this.#bytes.byteLength) {
      // A body in one piece is not copied.
      if (piece.byteLength === reserved) this.#bytes = piece
      else {
        const grown = new Uint8Array(reserved)
        grown.set(this.#bytes.subarray(0, this.#size))
        grown.set(piece, this.#size)
        this.#bytes = grown
      }
    } else this.#bytes.set(piece, this.#size)
    this.#size += piece.byteLength
  }

  /** Returns the received bytes, without a copy. */
  whole(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }
}

function tooLarge(maxBytes: number): Refused {
  return refuse('body_too_large', `The body is over the limit of ${maxBytes} bytes.`, { limit: maxBytes })
}

function brokenOff(): Refused {
  return refuse('invalid_json', 'The body broke off before its end.')
}

function tooSlow(): Refused {
  const detail = `The body did not arrive within ${BODY_TIMEOUT_MS} ms.`
  return refuse('body_timeout', detail, { limit: BODY_TIMEOUT_MS })
}

function alreadyConsumed(): Refused {
  const detail = [
    'Something in the host read the body before Sallyport, and left nothing of it.',
    'Mount Sallyport before what reads the body, or let that keep its result:',
    'in req.body (Express, node:http) or ctx.request.body (Koa). Under fetch, pass a request that is still unread.',
  ]
  return refuse('body_already_consumed', detail.join(' '))
}

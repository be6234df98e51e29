import { type HandlerRequest, type Refused, refuse } from '../core/answers/result.ts'
import { overloaded } from '../core/load/load-limits.ts'
import type { UnfinishedBody } from '../core/load/unfinished-bodies.ts'
import type { Clock } from '../ports/clock.ts'
import { GrowingBuffer } from './growing-buffer.ts'

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
  /** The host has read it and kept this: the bytes, the text, or the parsed value. `raw`: what it kept as `rawBody`. */
  | { readonly kind: 'left'; readonly value: unknown; readonly raw?: unknown }
  /** The host has read it and kept no body. */
  | { readonly kind: 'consumed'; readonly raw?: unknown }

export interface ReadOptions {
  readonly maxBytes: number
  readonly clock: Clock
  /** Reserves a share of the budget of unfinished bodies; `undefined`: the budget is spent. As in {@link UnfinishedBodies}. */
  begin(refuse: () => void): UnfinishedBody | undefined
}

/** Bytes or text; a promise if the body is still to be read. */
type Received = Uint8Array | string | Refused | Promise<Uint8Array | Refused>

/** Reads a body within its limits. A value of the host's parser is left to the caller: `undefined`. */
export function receive(
  body: HostBody,
  headers: HandlerRequest['headers'],
  options: ReadOptions,
): Received | undefined {
  const { maxBytes } = options
  const length = declaredLength(headers)
  if (Number.isNaN(length)) return refuse('invalid_json', 'The Content-Length is no whole number.')
  if (length !== undefined && length > maxBytes) return tooLarge(maxBytes)
  switch (body.kind) {
    case 'left':
      return left(body.value, maxBytes)
    case 'consumed':
      return alreadyConsumed()
    case 'whole':
      return readWhole(body, length ?? 0, options)
    case 'stream':
      return readStream(body.pump, length, options)
  }
}

/**
 * Returns the exact bytes of a body. If the host has read it: the bytes or the text that it kept. A text of another length than the
 * declared one was not decoded as plain UTF-8, and its bytes are lost.
 */
export function bytesOf(
  body: HostBody,
  headers: HandlerRequest['headers'],
  options: ReadOptions,
): Uint8Array | Refused | Promise<Uint8Array | Refused> {
  const kept = keptBy(body)
  if (body.kind === 'consumed' && kept === undefined) return bytesLost()
  const received = receive(kept === undefined ? body : { kind: 'left', value: kept }, headers, options)
  if (received !== undefined && typeof received !== 'string') return received
  const bytes = encode(received ?? '')
  const length = declaredLength(headers) ?? (received === undefined ? Number.NaN : bytes.byteLength)
  return length === bytes.byteLength ? bytes : bytesLost()
}

/** The `rawBody` of the host, if it is bytes or text. */
function keptBy(body: HostBody): Uint8Array | string | undefined {
  const raw = 'raw' in body ? body.raw : undefined
  return typeof raw === 'string' || raw instanceof Uint8Array ? raw : undefined
}

/** Content-Length, ignored with a Transfer-Encoding (RFC 9112 section 6.3). `NaN`: not a whole number. */
export function declaredLength(headers: HandlerRequest['headers']): number | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  if (length === undefined || encoding !== undefined) return undefined
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : Number.NaN
}

/** Applies the limit to the UTF-8 length of a text, which is computed only near the limit. */
function left(value: unknown, maxBytes: number): Uint8Array | string | Refused | undefined {
  if (value instanceof Uint8Array) return value.byteLength > maxBytes ? tooLarge(maxBytes) : value
  if (typeof value !== 'string') return undefined
  const isOver = value.length > maxBytes || (value.length * 3 > maxBytes && encode(value).byteLength > maxBytes)
  return isOver ? tooLarge(maxBytes) : value
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
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
        const piece = typeof bytes === 'string' ? encode(bytes) : bytes
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

function bytesLost(): Refused {
  const detail = [
    'Something in the host read the body before Sallyport, and the proof of this request needs its exact bytes.',
    'Mount Sallyport before the body parser, or keep the bytes: express.json({ verify: keepRawBody }) of',
    'sallyport/express, req.rawBody in other hosts. Under fetch, pass a request that is still unread.',
  ]
  return refuse('body_already_consumed', detail.join(' '))
}

import { type Refused, refuse } from '../core/answers/result.ts'
import { overloaded } from '../core/load/load-limits.ts'
import type { UnfinishedBody } from '../core/load/unfinished-bodies.ts'
import type { Clock } from '../ports/clock.ts'

/** How long a body may take to arrive, in milliseconds. */
const BODY_TIMEOUT_MS = 10_000

/** How much of a refused body is still read, in bytes and milliseconds, so that an ordinary caller can read the answer. */
export const LINGER_BYTES = 65_536
export const LINGER_MS = 1_000

/** Takes a body as it arrives. Calls after the first `end` or `broken`, and after a refusal, change nothing. */
export interface BodySink {
  chunk(bytes: Uint8Array | string): void
  end(): void
  /** The body will not be complete: the caller has left, or the stream failed. */
  broken(): void
}

/** Starts a body flowing into a sink, after it has returned. Returns a function that is called when the body is refused before its end. */
export type Pump = (sink: BodySink) => () => void

/**
 * A body of known length, read in one call. A server enforces Content-Length; a request made in this process may declare a false one, which
 * is found only when all of it is read. `isTaken` is asked after a failed read: somebody else is reading the body.
 */
interface WholeBody {
  bytes(): Promise<ArrayBuffer>
  isTaken(): boolean
}

/** A body as the host passes it. */
export type HostBody =
  | { readonly kind: 'stream'; readonly pump: Pump }
  | ({ readonly kind: 'whole' } & WholeBody)
  /** The host has read it and left this: the bytes, the text, or the JSON value. */
  | { readonly kind: 'left'; readonly value: unknown }
  /** The host has read it and left nothing. */
  | { readonly kind: 'consumed' }

/** How to read a body. */
export interface ReadOptions {
  readonly maxBytes: number
  readonly clock: Clock
  /** Takes a share of the budget of unfinished bodies; `undefined`: the budget is spent. As in {@link UnfinishedBodies}. */
  begin(refuse: () => void): UnfinishedBody | undefined
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
      // The host's request cannot be read.
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

/** The least that is reserved: below it, growing costs more than it saves. */
const LEAST_BYTES = 1_024

/**
 * Collects bytes that arrive in pieces, of any size, in one buffer. Reserves at most twice as much as has arrived, or 1 KiB, and never more
 * than `greatest`, whatever length is declared.
 */
export class GrowingBuffer {
  readonly #greatest: number
  #bytes: Uint8Array = new Uint8Array(0)
  #size = 0

  /** @param greatest The length of the body where it is known, otherwise its limit. */
  constructor(greatest: number) {
    this.#greatest = greatest
  }

  /** How many bytes have arrived. */
  get size(): number {
    return this.#size
  }

  /** How many bytes are reserved after this many more have arrived. */
  reservedWith(more: number): number {
    const size = this.#size + more
    if (size <= this.#bytes.byteLength) return this.#bytes.byteLength
    return Math.max(size, Math.min(this.#greatest, Math.max(LEAST_BYTES, 2 * size)))
  }

  append(piece: Uint8Array): void {
    const reserved = this.reservedWith(piece.byteLength)
    if (reserved > this.#bytes.byteLength) {
      // A body that comes in one piece is not copied.
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

  /** The bytes that have arrived, without a copy. */
  whole(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }
}

/** Refuses a body over the limit. */
export function tooLarge(maxBytes: number): Refused {
  return refuse('body_too_large', `The body is over the limit of ${maxBytes} bytes.`, { limit: maxBytes })
}

function brokenOff(): Refused {
  return refuse('invalid_json', 'The body broke off before its end.')
}

function tooSlow(): Refused {
  const detail = `The body did not arrive within ${BODY_TIMEOUT_MS} ms.`
  return refuse('body_timeout', detail, { limit: BODY_TIMEOUT_MS })
}

/** Refuses a body that somebody else has read, or is reading. */
export function alreadyConsumed(): Refused {
  const detail = [
    'Something in the host read the body before Sallyport, and left nothing of it.',
    'Mount Sallyport before what reads the body, or let that keep its result:',
    'in req.body (Express, node:http) or ctx.request.body (Koa). Under fetch, pass a request that is still unread.',
  ]
  return refuse('body_already_consumed', detail.join(' '))
}

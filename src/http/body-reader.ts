import { type Refused, refuse } from '../core/answers/result.ts'
import { overloaded } from '../core/load/load-limits.ts'
import type { UnfinishedBody } from '../core/load/unfinished-bodies.ts'
import type { Clock } from '../ports/clock.ts'
import { GrowingBuffer } from './growing-buffer.ts'

/** How long a body may take to arrive, in milliseconds. */
const BODY_TIMEOUT_MS = 10_000

/** How much of a refused body is still let in, in bytes and milliseconds, so that an ordinary caller gets to read the answer. */
export const LINGER_BYTES = 65_536
export const LINGER_MS = 1_000

/** Takes a body as it arrives. After the first `end` or `broken`, and after a refusal, calls change nothing. */
export interface BodySink {
  chunk(bytes: Uint8Array | string): void
  end(): void
  /** The body will not come to its end: the caller left, or the stream failed. */
  broken(): void
}

/**
 * Starts a body flowing into a sink, never before it has returned. What it returns is called when the body is refused: to
 * see to what has not arrived.
 */
export type Pump = (sink: BodySink) => () => void

/** A body as the host hands it over. */
export type HostBody =
  | { readonly kind: 'stream'; readonly pump: Pump }
  /**
   * As long as its Content-Length says, and read in one go. A server holds a body to that; the length of a request that was made
   * in this process may be false, and is found out only once all of it is here. `isTaken`, once that failed: somebody else has it.
   */
  | { readonly kind: 'whole'; bytes(): Promise<ArrayBuffer>; isTaken(): boolean }
  /** Somebody read it, and left this: the bytes, the text, or the JSON value. */
  | { readonly kind: 'left'; readonly value: unknown }
  /** Somebody read it, and left nothing. */
  | { readonly kind: 'consumed' }

/** How a body is to be read. */
export interface ReadOptions {
  readonly maxBytes: number
  readonly clock: Clock
  /** Takes a share of what unfinished bodies may hold; `undefined`: there is no room. As in {@link UnfinishedBodies}. */
  begin(refuse: () => void): UnfinishedBody | undefined
}

/**
 * Collects a body: at most `maxBytes` of it, within {@link BODY_TIMEOUT_MS}. Always settles, never rejects.
 *
 * @param length What it is announced to be, at most `maxBytes`. Nothing is reserved for bytes that have not arrived.
 */
export function readBody(
  pump: Pump,
  length: number | undefined,
  { maxBytes, clock, begin }: ReadOptions,
): Promise<Uint8Array | Refused> {
  return new Promise((resolve) => {
    const share = begin(() => giveUp(overloaded()))
    if (!share) return resolve(overloaded())
    let letGo = (): void => {}
    let buffer: GrowingBuffer | undefined = new GrowingBuffer(length ?? maxBytes)
    const settle = (outcome: Uint8Array | Refused): void => {
      // Listeners may outlive the reading, and must not keep what was read.
      buffer = undefined
      callOff()
      share.release()
      resolve(outcome)
    }
    const giveUp = (refused: Refused): void => {
      settle(refused)
      letGo()
    }
    const callOff = clock.after(BODY_TIMEOUT_MS, () => giveUp(tooSlow()))
    const sink: BodySink = {
      chunk(bytes) {
        if (!buffer) return
        const piece = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes
        if (buffer.size + piece.byteLength > maxBytes) return giveUp(tooLarge(maxBytes))
        share.hold(buffer.reservedWith(piece.byteLength))
        buffer?.append(piece)
      },
      end: () => buffer && settle(buffer.whole()),
      broken: () => buffer && settle(brokenOff()),
    }
    try {
      letGo = pump(sink)
    } catch {
      // The request of the host is none that can be read.
      sink.broken()
    }
  })
}

/** Reads a body that comes in one go, of the length that it is announced to be, as {@link readBody} reads one that does not. */
export function readWholeBody(
  { bytes, isTaken }: Extract<HostBody, { kind: 'whole' }>,
  length: number,
  { maxBytes, clock, begin }: ReadOptions,
): Promise<Uint8Array | Refused> {
  return new Promise((resolve) => {
    let isSettled = false
    const settle = (outcome: Uint8Array | Refused): void => {
      isSettled = true
      callOff()
      share?.release()
      resolve(outcome)
    }
    const callOff = clock.after(BODY_TIMEOUT_MS, () => settle(tooSlow()))
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

/** The refusal of a body over the limit. */
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

/** The refusal of a body that somebody else has read, or is reading. */
export function alreadyConsumed(): Refused {
  const detail = [
    'Something in the host read the body before Sallyport, and left nothing of it.',
    'Mount Sallyport before what reads the body, or let that keep its result:',
    'in req.body (Express, node:http) or ctx.request.body (Koa). Under fetch, pass a request that is still unread.',
  ]
  return refuse('body_already_consumed', detail.join(' '))
}

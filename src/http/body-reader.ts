import { type Refused, refuse } from '../core/result.ts'
import type { Clock } from '../ports/clock.ts'

/** How long a body may take to arrive, in milliseconds. */
export const BODY_TIMEOUT_MS = 10_000

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

/** Collects a body: at most `maxBytes` of it, within {@link BODY_TIMEOUT_MS}. Always settles, never rejects. */
export function readBody(pump: Pump, maxBytes: number, clock: Clock): Promise<Uint8Array | Refused> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let size = 0
    let settled = false
    const settle = (outcome: Uint8Array | Refused): void => {
      if (settled) return
      settled = true
      callOff()
      resolve(outcome)
    }
    const giveUp = (refused: Refused): void => {
      if (settled) return
      settle(refused)
      letGo()
    }
    const callOff = clock.after(BODY_TIMEOUT_MS, () => giveUp(tooSlow()))
    const letGo = pump({
      chunk(bytes) {
        if (settled) return
        const chunk = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes
        size += chunk.byteLength
        if (size > maxBytes) giveUp(tooLarge(maxBytes))
        else chunks.push(chunk)
      },
      end: () => settle(joined(chunks, size)),
      broken: () => settle(brokenOff()),
    })
  })
}

/** Reads a body that comes in one go, within {@link BODY_TIMEOUT_MS}. Always settles, never rejects. */
export function readWhole(read: Promise<ArrayBuffer>, maxBytes: number, clock: Clock): Promise<Uint8Array | Refused> {
  return new Promise((resolve) => {
    const callOff = clock.after(BODY_TIMEOUT_MS, () => resolve(tooSlow()))
    read
      .then((bytes) => (bytes.byteLength > maxBytes ? tooLarge(maxBytes) : new Uint8Array(bytes)), brokenOff)
      .then((outcome) => {
        callOff()
        resolve(outcome)
      })
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

/** Nearly every body is one chunk, which is not copied. */
function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks
  if (only && chunks.length === 1) return only
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

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

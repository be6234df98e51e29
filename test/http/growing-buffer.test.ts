import { expect, test } from 'vitest'
import { GrowingBuffer } from '../../src/http/growing-buffer.ts'
import { fc, runs } from '../support/properties.ts'

const GREATEST = 262_144
const piece = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 1 }),
  fc.uint8Array({ maxLength: 40 }),
  fc.nat(40_000).map((length) => new Uint8Array(length).fill(length % 251)),
)

test('A growing buffer keeps all bytes in order, and reserves at most twice their size or 1 KiB', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), fc.constantFrom(0, 1, 1_000, GREATEST), (pieces, published) => {
      const buffer = new GrowingBuffer(published)
      let size = 0
      for (const each of pieces) {
        buffer.append(each)
        size += each.byteLength
        expect(buffer.reservedWith(0)).toBeGreaterThanOrEqual(size)
        expect(buffer.reservedWith(0)).toBeLessThanOrEqual(Math.max(1_024, 2 * size))
      }
      expect(Buffer.from(buffer.whole()).equals(Buffer.concat(pieces))).toBe(true)
    }),
    { numRuns: runs(200) },
  )
})

test('A growing buffer reserves no more than the announced length', () => {
  const buffer = new GrowingBuffer(3_000)
  buffer.append(new Uint8Array(2_000))
  expect(buffer.reservedWith(0)).toBe(3_000)
  expect(buffer.reservedWith(1_000)).toBe(3_000)
})

test('A growing buffer does not copy a body of one piece', () => {
  const bytes = new Uint8Array(5_000)
  const buffer = new GrowingBuffer(5_000)
  buffer.append(bytes)
  expect(buffer.whole().buffer).toBe(bytes.buffer)
})

test('A growing buffer reserves memory again only after its size has doubled', () => {
  const buffer = new GrowingBuffer(GREATEST)
  const reserved = new Set<number>()
  for (let at = 0; at < GREATEST; at++) {
    buffer.append(Uint8Array.of(at))
    reserved.add(buffer.reservedWith(0))
  }
  expect(reserved.size).toBeLessThanOrEqual(10)
})

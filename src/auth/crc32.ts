/** What four bits shift in: the polynomial of ISO-HDLC (zlib, PNG), reflected. */
const NIBBLES = [
  0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320,
  0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
] as const

/** CRC-32 (ISO-HDLC, as in zlib) of the first `length` characters of an ASCII text: 0 to 2^32 - 1. */
export function crc32(ascii: string, length: number): number {
  let crc = -1
  for (let index = 0; index < length; index++) {
    crc ^= ascii.charCodeAt(index)
    crc = (crc >>> 4) ^ (NIBBLES[crc & 15] ?? 0)
    crc = (crc >>> 4) ^ (NIBBLES[crc & 15] ?? 0)
  }
  return ~crc >>> 0
}

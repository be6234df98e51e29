const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Bytes from here on are thrown away: they would make the first digits likelier than the last. */
const FAIR_BYTES = 256 - (256 % 62)

/** A number in base 62 (digits `0-9A-Za-z`, most significant first), padded with `0`. */
export function base62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = DIGITS.charAt(rest % 62) + text
  return text
}

/** Base-62 digits from the runtime's cryptographic source, each of the 62 exactly as likely as the others. */
export function randomBase62(length: number): string {
  const bytes = new Uint8Array(64)
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(bytes)) {
      if (byte < FAIR_BYTES && text.length < length) text += DIGITS.charAt(byte % 62)
    }
  }
  return text
}

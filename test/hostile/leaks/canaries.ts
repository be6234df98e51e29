import { createHash, randomBytes, randomInt } from 'node:crypto'

/** A part of this length identifies a canary, so truncated values are found too. */
const ENOUGH = 16

/** A unique text for one kind of secret, with all forms that it may be transformed into. */
interface Canary {
  readonly kind: string
  readonly forms: readonly string[]
}

/** Plants canaries and finds them. */
export interface Canaries {
  /** A word of 24 lower-case letters and digits, a letter first. */
  word(kind: string): string
  /** An E.164 number. */
  phone(kind: string): string
  /** Watches for a text made elsewhere, of at least 16 characters: a token or a key. */
  watch(kind: string, text: string): string
  /** The kinds of all canaries in a text, plain or transformed. */
  in(text: string): readonly string[]
}

export function createCanaries(): Canaries {
  const planted: Canary[] = []

  function watch(kind: string, text: string): string {
    if (text.length < ENOUGH - 3) throw new TypeError(`too short to be unique: ${kind}`)
    planted.push({ kind, forms: formsOf(text) })
    return text
  }

  return {
    word: (kind) => watch(kind, `c${randomBytes(12).toString('hex').slice(1)}`),
    phone(kind) {
      const digits = `49${Array.from({ length: 13 }, () => randomInt(10)).join('')}`
      watch(kind, digits)
      return `+${digits}`
    },
    watch,
    in(text) {
      const folded = text.toLowerCase()
      const found = planted.filter(({ forms }) => forms.some((form) => folded.includes(form)))
      return [...new Set(found.map(({ kind }) => kind))]
    },
  }
}

/**
 * Forms of a text on its way out, in lower case. Escaping for HTML, JSON and URLs changes only the characters around
 * the canary's letters, and comparisons ignore case.
 */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text.slice(0, ENOUGH))
  const digest = createHash('sha256').update(text).digest('hex')
  const forms = [
    text.slice(0, ENOUGH),
    bytes.toString('hex'),
    Array.from(bytes, (byte) => `%${byte.toString(16)}`).join(''),
    // An attacker who can guess an address finds it by its plain digest.
    digest.slice(0, ENOUGH),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
  ]
  return forms.map((form) => form.toLowerCase())
}

/** Base64 of bytes at an offset, without the characters that depend on their neighbours. */
function base64At(bytes: Buffer, offset: number): readonly string[] {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const own = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
}

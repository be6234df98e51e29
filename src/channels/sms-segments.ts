/** Default alphabet of GSM 03.38 without the escape character: one septet each. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿' +
    'abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Its extension: two septets each. */
const EXTENDED = new Set('\f^{}\\[~]|€')

interface Alphabet {
  readonly single: number
  readonly part: number
  size(character: string): number
}

const GSM_7: Alphabet = { single: 160, part: 153, size: (character) => (EXTENDED.has(character) ? 2 : 1) }
const UCS_2: Alphabet = { single: 70, part: 67, size: (character) => character.length }

/** UAX #15, section 13: no language has a longer run, and to order one takes quadratic time. */
const LONG_RUN_OF_MARKS = /\p{M}{31}/u

/** Normalization form C: a letter and its accent become one character, which the GSM alphabet may have. */
export function composeText(text: string): string {
  return LONG_RUN_OF_MARKS.test(text) ? text : text.normalize('NFC')
}

/** 160 septets, or 153 each if several; outside the GSM alphabet 70 or 67 UTF-16 units. Segments never split a character. */
export function segmentCount(text: string): number {
  const characters = [...text]
  const gsm = characters.every((character) => BASIC.has(character) || EXTENDED.has(character))
  const { single, part, size } = gsm ? GSM_7 : UCS_2
  const sizes = characters.map(size)
  if (sizes.reduce((sum, units) => sum + units, 0) <= single) return 1
  let segments = 1
  let used = 0
  for (const units of sizes) {
    if (used + units > part) {
      segments += 1
      used = 0
    }
    used += units
  }
  return segments
}

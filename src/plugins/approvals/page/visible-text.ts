import { type Html, html } from '../../../pages/html.ts'

/**
 * Characters that a page does not show, or that move others, such as U+202E. Line feed, tab, joiners of scripts and emoji, and variation
 * selectors have their usual effect.
 */
const HIDDEN =
  /((?![\n\t\u200c]|\u200d|[\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u

/** A text of others for a page, with the code point in place of each hidden character, such as `U+202E`. */
export function visible(text: string): Html {
  const pieces = text.replaceAll('\r\n', '\n').split(HIDDEN)
  return html`${pieces.map((piece, index) => (index % 2 === 0 ? piece : html`<span class="mark">${codePoint(piece)}</span>`))}`
}

/** {@link visible} within a sentence: its direction does not affect the sentence. */
export function isolated(text: string): Html {
  return html`<bdi>${visible(text)}</bdi>`
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

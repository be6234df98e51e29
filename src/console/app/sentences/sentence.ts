import { textOf } from '../words.ts'

/** Explanation of a value, and the next step. */
export interface Sentence {
  readonly means: string
  readonly next: string
}

/** Sentence of a value; a value that `redact` replaced has none of its own. */
export function sentenceOf(table: Readonly<Record<string, Sentence>>, value: unknown): Sentence {
  const text = textOf(value)
  const found = Object.hasOwn(table, text) ? table[text] : undefined
  return found ?? { means: `It is ${text}.`, next: '' }
}

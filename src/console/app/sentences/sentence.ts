/** Explanation of a value, and the next step. */
export interface Sentence {
  readonly means: string
  readonly next: string
}

/** Sentence of a value; a value that `redact` replaced has none of its own. */
export function sentenceOf(table: Readonly<Record<string, Sentence>>, value: string): Sentence {
  const found = Object.hasOwn(table, value) ? table[value] : undefined
  return found ?? { means: `It is ${value}.`, next: '' }
}

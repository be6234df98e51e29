import { compoundKey } from '../model/compound-key.ts'
import { timePart } from '../model/time-part.ts'

/** A text of names and a time. Texts of equal names sort by the time, and no others lie between them. */
export function timedText(names: readonly string[], at: number): string {
  return compoundKey(...names) + timePart(at)
}

/** The time of a text of these names, and what follows it. */
export function splitTimedText(text: string, names: readonly string[]): { readonly at: number; readonly rest: string } {
  const from = compoundKey(...names).length
  const to = from + timePart(0).length
  return { at: Number(text.slice(from, to)), rest: text.slice(to) }
}

/** The name of a text of one name and a time. */
export function nameIn(text: string): string {
  const from = text.indexOf(':') + 1
  return text.slice(from, from + Number(text.slice(0, from - 1)))
}

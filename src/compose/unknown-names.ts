import type { ConfigProblem } from '../errors.ts'
import { choices } from '../options/read-options.ts'
import { shownName } from '../options/shown-value.ts'

/** Finds names of channels or events that are not there. */
export function unknownNames(
  field: string,
  used: readonly string[] | undefined,
  known: readonly string[],
): readonly ConfigProblem[] {
  return [...new Set(used ?? [])]
    .filter((name) => !known.includes(name))
    .map((name) => ({ field, detail: `${shownName(name)} is not there${choices(name, known, 'names')}` }))
}

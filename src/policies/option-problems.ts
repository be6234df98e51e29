import { type ConfigProblem, SallyportError } from '../errors.ts'

/** What a policy throws at start-up: all that is wrong with its options at once. */
export function badOptions(policy: string, problems: readonly ConfigProblem[]): SallyportError {
  return new SallyportError('option_invalid', `${policy}: the options cannot be used`, problems)
}

/** What is wrong with a list that narrows a policy down: an empty one would switch it off without a word. */
export function namesProblems(field: string, names: readonly string[] | undefined): ConfigProblem[] {
  if (names === undefined) return []
  const fits =
    Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string' && name !== '')
  return fits ? [] : [{ field, detail: 'must be a list of at least one name' }]
}

/** What is wrong with a number: it must be whole, and within its range. */
export function rangeProblems(field: string, value: number, max: number): ConfigProblem[] {
  if (Number.isInteger(value) && value >= 1 && value <= max) return []
  return [{ field, detail: `must be a whole number from 1 to ${max}` }]
}

import { nearNames } from './near-names.ts'

/** Whether a definition is an object with keys: its type may say so, and a caller not heed it. */
export function isRecord(definition: unknown): boolean {
  return typeof definition === 'object' && definition !== null && !Array.isArray(definition)
}

/** What is wrong with a number: `undefined` when it is whole and in its range. */
export function numberFault(value: unknown, [least, greatest]: readonly [number, number]): string | undefined {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= greatest
  if (fits) return undefined
  return `must be a whole number from ${least} to ${greatest}`
}

/** The names near to one that is not there, to be put after what is said of it. */
export function near(name: string, names: readonly string[]): string {
  const found = nearNames(name, names)
  return found.length > 0 ? `; near: ${found.join(', ')}` : ''
}

import type { SallyportError } from '../../src/errors.ts'

/** The problems of an error, each on a line as `field detail`. */
export function reported({ problems }: Pick<SallyportError, 'problems'>): string {
  return problems.map(({ field, detail }) => (field === undefined ? detail : `${field} ${detail}`)).join('\n')
}

/** What a message says of a wrong value: a number or a boolean as it is, and never a text. */
export function said(value: unknown): string {
  if (value === '') return 'an empty string'
  return typeof value === 'string' ? 'a string' : String(value)
}

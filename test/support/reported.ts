import type { SallyportError } from '../../src/errors.ts'

/** The problems of an error, each on a line as `field detail`. */
export function reported({ problems }: Pick<SallyportError, 'problems'>): string {
  return problems.map(({ field, detail }) => (field === undefined ? detail : `${field} ${detail}`)).join('\n')
}

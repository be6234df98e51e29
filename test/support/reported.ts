import type { SallyportError } from '../../src/errors.ts'

/** The problems of an error, each as `field detail` on a line of its own. */
export function reported({ problems }: Pick<SallyportError, 'problems'>): string {
  return problems.map(({ field, detail }) => (field === undefined ? detail : `${field} ${detail}`)).join('\n')
}

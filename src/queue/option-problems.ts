import { type ConfigProblem, SallyportError } from '../errors.ts'

/** Stops start-up with all the problems of a queue's options at once; does nothing when there are none. */
export function refuseBadOptions(queue: string, problems: readonly ConfigProblem[]): void {
  if (problems.length > 0) throw new SallyportError('option_invalid', `The options of ${queue}() are invalid`, problems)
}

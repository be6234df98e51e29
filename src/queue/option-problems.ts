import { type ConfigProblem, SallyportError } from '../errors.ts'

/**
 * Stops start-up with all the problems of a queue's options at once; does nothing when there are none.
 *
 * @param names Of all the options that there are.
 */
export function refuseBadOptions<Options extends object>(
  queue: string,
  options: Options,
  names: readonly (keyof Options & string)[],
  problemsOf: (options: Options) => readonly ConfigProblem[],
): void {
  const problems =
    typeof options === 'object' && options !== null
      ? [...unknownIn(options, names), ...problemsOf(options)]
      : [{ detail: 'takes an object of options' }]
  if (problems.length > 0) throw new SallyportError('option_invalid', `The options of ${queue}() are invalid`, problems)
}

function unknownIn(options: object, names: readonly string[]): readonly ConfigProblem[] {
  const unknown = Object.keys(options).filter((name) => !names.includes(name))
  return unknown.map((field) => ({ field, detail: 'is not an option' }))
}

import { type ConfigProblem, SallyportError } from '../errors.ts'

/** Stops start-up with all the problems of a channel's options at once; does nothing when there are none. */
export function refuseBadOptions(channel: string, problems: readonly ConfigProblem[]): void {
  if (problems.length > 0)
    throw new SallyportError('option_invalid', `The options of ${channel}() are invalid`, problems)
}

/** What is wrong with a retry schedule: it must be whole milliseconds, none less than the one before. */
export function scheduleProblems(schedule: readonly number[] | undefined): ConfigProblem[] {
  if (schedule === undefined) return []
  const fits =
    Array.isArray(schedule) &&
    schedule.every((ms, index) => Number.isSafeInteger(ms) && ms >= (schedule[index - 1] ?? 0))
  return fits ? [] : [{ field: 'retrySchedule', detail: 'must be whole milliseconds in ascending order' }]
}

/** What is wrong with a number of an option: it must be whole and positive. */
export function positiveIntegerProblems(field: string, value: number | undefined): ConfigProblem[] {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return []
  return [{ field, detail: 'must be a positive whole number' }]
}

/** Names the template fields that a channel does not know, and those that it does. */
export function unknownFields(fields: readonly string[], known: readonly string[]): string | undefined {
  const unknown = fields.filter((field) => !known.includes(field))
  if (unknown.length === 0) return undefined
  return `unknown ${unknown.length === 1 ? 'field' : 'fields'} ${unknown.join(', ')} (known: ${known.join(', ')})`
}

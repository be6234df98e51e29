import type { Problem } from '../../errors.ts'
import type { LogFields } from '../../ports/logger.ts'
import { listErrors } from './listed-errors.ts'

const MAX_DETAIL = 1_000

/** Fields of a log line about a refusal: the words of the answer, without values. */
export function loggedProblem({ code, detail, errors }: Problem): Pick<LogFields, 'code' | 'detail' | 'errors'> {
  return { code, detail: detail.slice(0, MAX_DETAIL), ...(errors && { errors: listErrors(errors) }) }
}

import type { IssueCode } from '../errors.ts'

export type FaultCode = Extract<
  IssueCode,
  'type' | 'format' | 'out_of_range' | 'too_short' | 'too_long' | 'too_many' | 'not_allowed'
>

/** A fault of a value that a reader of one function found. */
export interface ReadFault {
  readonly code: FaultCode
  /** Never quotes the value. With `not_allowed`: the allowed values, as the end of "expected one of". */
  readonly detail: string
  readonly path?: readonly string[]
}

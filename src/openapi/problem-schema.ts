import { type Issue, type IssueCode, PROBLEM_CODES, type Problem, type ProblemCode } from '../errors.ts'
import {
  type Component,
  component,
  list,
  type NamedSchema,
  object,
  oneOfSchema,
  optionalSchema,
  reference,
  type SchemaOf,
  textSchema,
  wholeSchema,
} from './model-schema.ts'
import type { OpenApiSchema } from './open-api-document.ts'

const issueCode: Component<IssueCode> = component(
  'IssueCode',
  oneOfSchema<IssueCode>(
    {
      required: 'it is missing',
      type: 'it is of another type',
      format: 'it is not written as it must be',
      too_short: 'it is too short',
      too_long: 'it is too long',
      too_many: 'there are too many',
      out_of_range: 'the number or instant is out of bounds',
      not_allowed: 'it is none of those that are',
      invalid: 'it is wrong otherwise; `detail` says what was expected',
      missing_template_data: 'a template reads it',
      conflict: 'it differs from what is recorded',
      too_deep: 'it is nested deeper than 32 levels',
      nul_character: 'it holds a NUL character',
      lone_surrogate: 'it holds half of a UTF-16 surrogate pair',
      forbidden_key: 'a key named `__proto__`',
    },
    'What is wrong with one place of a body.',
  ),
)

const issue: Component<Issue> = component(
  'Issue',
  object<Issue>(
    {
      pointer: textSchema('JSON Pointer (RFC 6901) into the body that was sent.'),
      code: issueCode,
      detail: textSchema('What was expected, for people. Never the value.'),
    },
    'One fault in a body.',
  ),
)

/** All the codes, from the one table that there is. */
const problemCode: Component<ProblemCode> = component('ProblemCode', {
  json: { type: 'string', enum: [...PROBLEM_CODES], description: 'A closed union: switch on it.' },
} satisfies SchemaOf<ProblemCode>)

export const problemSchema: Component<Problem> = component(
  'Problem',
  object<Problem>(
    {
      type: textSchema('`urn:sallyport:problem:` and the code.'),
      title: textSchema('Of the kind of problem.'),
      status: wholeSchema(400, 'The HTTP status.'),
      detail: textSchema('What happened this time, for people. Never a value that was sent.'),
      code: problemCode,
      requestId: textSchema('Stands in the log of the host, with the cause of a fault.'),
      errors: optionalSchema(list(issue, 'All the faults of a body at once, at most 50.')),
      limit: optionalSchema(
        wholeSchema(0, 'With `body_too_large`: the limit in bytes. With `body_timeout`: the limit in milliseconds.'),
      ),
    },
    'Problem details (RFC 9457).',
  ),
)

export const PROBLEM_SCHEMAS: readonly NamedSchema[] = [problemSchema, problemCode, issue, issueCode]

/** A problem with one of these codes, all of one status. */
export function problemWith(status: number, codes: readonly ProblemCode[]): OpenApiSchema {
  const narrowed = { status: { const: status }, code: { type: 'string', enum: [...codes] } }
  return {
    allOf: [reference(problemSchema.name), { type: 'object', properties: narrowed, required: ['status', 'code'] }],
  }
}

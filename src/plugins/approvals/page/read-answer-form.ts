import type { AnswerContent, AnswerSchema } from '../../../model/approval.ts'
import { isStorable } from '../../../model/json.ts'
import { keysOf } from '../../../model/json-pointer.ts'
import { kindOfField } from '../../../pages/field-kinds.ts'
import { controlOf, fieldOfControl, readValue } from '../../../pages/form-values.ts'
import { checkContent } from '../schema/check-content.ts'
import type { AnswerProblem, GivenForm } from './answer-view.ts'

/** Most characters of a comment. */
export const MAX_COMMENT = 1_000
/** Most texts of one control: the choices of a field, and one more, by which `checkContent` finds that there are too many. */
const MAX_TEXTS = 51
const MAX_PROBLEMS = 20

/** An answer that can be recorded. */
export interface ReadAnswer {
  readonly answer: 'accept' | 'decline'
  /** With `accept` and a schema. */
  readonly content?: AnswerContent
  /** Not blank. */
  readonly comment?: string
}

/** A form that is to be shown again. */
export interface RefusedForm {
  readonly problems: readonly AnswerProblem[]
  readonly given: GivenForm
}

/**
 * Reads the form of the answer page. With `decline`, its content is not read.
 *
 * @param schema Schema of the approval. Absent: an answer has no content.
 */
export function readAnswerForm(form: URLSearchParams, schema: AnswerSchema | undefined): ReadAnswer | RefusedForm {
  const given = givenForm(form, schema)
  const [answer] = given.answer ?? []
  const { comment, problems: ofComment } = readComment(given)
  const ofAnswer = answer === 'accept' || answer === 'decline' ? repeated(given, 'answer') : [NO_ANSWER]
  const common = [...ofAnswer, ...ofComment]
  const { content, problems: ofContent } =
    answer === 'decline' ? { content: undefined, problems: [] } : readContent(form, given, schema)
  const problems = [...ofContent, ...common].slice(0, MAX_PROBLEMS)
  if (problems.length > 0 || (answer !== 'accept' && answer !== 'decline')) return { problems, given }
  return { answer, ...(content && { content }), ...(comment !== undefined && { comment }) }
}

const NO_ANSWER: AnswerProblem = { field: 'answer', code: 'not_allowed', detail: 'must be accept or decline' }

/** The texts of the known controls of a form, with the line breaks of JSON. Shows and sends again what was typed. */
export function givenForm(form: URLSearchParams, schema: AnswerSchema | undefined): GivenForm {
  const controls = ['answer', 'comment', ...Object.keys(schema?.properties ?? {}).map(controlOf)]
  const given = new Map<string, string[]>()
  for (const [control, text] of form) {
    const texts = given.get(control) ?? []
    if (!controls.includes(control) || texts.length >= MAX_TEXTS) continue
    texts.push(text.replaceAll(/\r\n?/g, '\n'))
    given.set(control, texts)
  }
  return Object.fromEntries(given)
}

function readComment(given: GivenForm): {
  readonly comment: string | undefined
  readonly problems: readonly AnswerProblem[]
} {
  const [text = ''] = given.comment ?? []
  const problem = (code: 'too_long' | 'invalid', detail: string): AnswerProblem => ({ field: 'comment', code, detail })
  return {
    comment: text.trim() === '' ? undefined : text,
    problems: [
      ...repeated(given, 'comment'),
      ...(text.length > MAX_COMMENT ? [problem('too_long', `must have at most ${MAX_COMMENT} characters`)] : []),
      ...(isStorable(text) ? [] : [problem('invalid', 'holds a NUL character or half of a surrogate pair')]),
    ],
  }
}

interface ReadContent {
  readonly content: AnswerContent | undefined
  readonly problems: readonly AnswerProblem[]
}

function readContent(form: URLSearchParams, given: GivenForm, schema: AnswerSchema | undefined): ReadContent {
  const { properties = {}, required = [] } = schema ?? {}
  const strange = strangers(form, properties)
  if (schema === undefined) return { content: undefined, problems: strange }
  const values = Object.entries(properties).map(([name, field]) => {
    const value = readValue(field, given[controlOf(name)] ?? [], required.includes(name))
    return [name, value] as const
  })
  const content = Object.fromEntries(
    values.filter((entry): entry is [string, AnswerContent[string]] => entry[1] !== undefined),
  )
  const twice = Object.entries(properties).flatMap(([name, field]) =>
    kindOfField(field).kind === 'choices' ? [] : repeated(given, controlOf(name)),
  )
  const issues = checkContent(schema, content).map(({ pointer, code, detail }) => ({
    field: controlOf(keysOf(pointer)[0] ?? ''),
    code,
    detail,
  }))
  return { content, problems: [...issues, ...twice, ...strange] }
}

/** Problem of a control that takes one text and has several. */
function repeated(given: GivenForm, field: string): readonly AnswerProblem[] {
  return (given[field]?.length ?? 0) > 1 ? [{ field, code: 'too_many', detail: 'is there more than once' }] : []
}

/** Problems of controls of no field, each once. */
function strangers(form: URLSearchParams, properties: object): readonly AnswerProblem[] {
  const strange = new Set<string>()
  for (const control of form.keys()) {
    const name = fieldOfControl(control)
    if (name !== undefined && !Object.hasOwn(properties, name)) strange.add(control)
    if (strange.size >= MAX_PROBLEMS) break
  }
  return [...strange].map((field) => ({ field, code: 'not_allowed', detail: 'is no field of the schema' }))
}

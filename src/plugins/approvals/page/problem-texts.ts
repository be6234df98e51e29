import type { AnswerField, AnswerSchema } from '../../../model/approval.ts'
import { type FieldOfKind, kindOfField, lengthsOf } from '../../../pages/field-kinds.ts'
import { fieldOfControl } from '../../../pages/form-values.ts'
import { filled, type Html } from '../../../pages/html.ts'
import type { TextFormat } from '../schema/formats.ts'
import type { AnswerProblem } from './answer-view.ts'
import { MAX_COMMENT } from './read-answer-form.ts'
import type { AnswerTexts } from './texts/answer-texts.ts'

const FORMAT_TEXTS: Readonly<Record<TextFormat, keyof AnswerTexts>> = {
  email: 'problemEmail',
  uri: 'problemUri',
  date: 'problemDate',
  'date-time': 'problemTime',
}

/** The text of a problem in the language of the page, with the bounds of the field. */
export function problemText(problem: AnswerProblem, schema: AnswerSchema | undefined, texts: AnswerTexts): Html {
  const { field, code } = problem
  if (field === 'answer') return filled(texts.problemAnswer, {})
  if (field === 'comment' && code === 'too_long') return filled(texts.problemLong, { most: `${MAX_COMMENT}` })
  const known = fieldNamed(fieldOfControl(field), schema)
  if (known === undefined) return filled(texts.problemInvalid, {})
  return code === 'required' ? filled(texts.problemRequired, {}) : fieldText(code, kindOfField(known), texts)
}

/** The field of a schema with this own name. */
export function fieldNamed(name: string | undefined, schema: AnswerSchema | undefined): AnswerField | undefined {
  return schema && name !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
}

function fieldText(code: AnswerProblem['code'], known: FieldOfKind, texts: AnswerTexts): Html {
  switch (known.kind) {
    case 'text': {
      const [least, most] = lengthsOf(known.field)
      if (code === 'too_short') return filled(texts.problemShort, { least: `${least}` })
      if (code === 'too_long') return filled(texts.problemLong, { most: `${most}` })
      const { format } = known.field
      const isFormat = code === 'format' && format !== undefined
      return filled(isFormat ? texts[FORMAT_TEXTS[format]] : texts.problemInvalid, {})
    }
    case 'number': {
      const { type, minimum, maximum } = known.field
      if (code === 'type') return filled(type === 'integer' ? texts.problemWhole : texts.problemNumber, {})
      return code === 'out_of_range' ? rangeText(minimum, maximum, texts) : filled(texts.problemInvalid, {})
    }
    case 'choices': {
      const { minItems = 0, maxItems = known.choices.length } = known.field
      if (code === 'too_short') return filled(texts.problemFew, { least: `${minItems}` })
      return filled(code === 'too_many' ? texts.problemMany : texts.problemChoice, { most: `${maxItems}` })
    }
    case 'choice':
    case 'flag':
      return filled(texts.problemChoice, {})
  }
}

function rangeText(minimum: number | undefined, maximum: number | undefined, texts: AnswerTexts): Html {
  const bounds = { least: `${minimum}`, most: `${maximum}` }
  if (minimum === undefined) return filled(maximum === undefined ? texts.problemInvalid : texts.problemAbove, bounds)
  return filled(maximum === undefined ? texts.problemBelow : texts.problemRange, bounds)
}

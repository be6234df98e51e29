import type { AnswerContent, AnswerField, AnswerSchema } from '../../../../src/model/approval.ts'
import { fc } from '../../../support/properties.ts'

/** A field and a value that fits it. */
interface Answered {
  readonly field: AnswerField
  readonly value: AnswerContent[string]
}

/** Any storable text. */
const text = (least: number, most: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...'aZ09 äß<>&"\'\n=+%;{}[]#', '✓', '😀', '\u202e'), { minLength: least, maxLength: most })
    .map((parts) => parts.join(''))

const choices = fc.uniqueArray(
  fc.oneof(
    fc.stringMatching(/^[a-z]{1,5}$/),
    fc.constantFrom('<b>', 'a & b', "it's", '"', 'on', 'true', '0', '😀', ' a'),
  ),
  { minLength: 1, maxLength: 8 },
)
const titled = (values: readonly string[]) => values.map((value) => ({ const: value, title: `T ${value}` }))

const DAY = fc.date({ min: new Date(-62e12), max: new Date(253e12), noInvalidDate: true })
const EMAILS = ['jane@example.com', "o'neil+x@sub.example.org"]
const URIS = ['https://example.com/?a=b&c=%C3%BC#d', 'urn:isbn:0451450523', 'mailto:jane@example.com']

/** Texts are not empty, since a form cannot tell an empty field from one without an answer. */
const texts = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 3, max: 40 }))
  .chain(([minLength, maxLength]) =>
    text(Math.max(1, minLength), maxLength).map(
      (value): Answered => ({ field: { type: 'string', minLength, maxLength }, value }),
    ),
  )

const formats: fc.Arbitrary<Answered> = fc.oneof(
  fc.constantFrom(...EMAILS).map((value): Answered => ({ field: { type: 'string', format: 'email' }, value })),
  fc.constantFrom(...URIS).map((value): Answered => ({ field: { type: 'string', format: 'uri' }, value })),
  DAY.map((day): Answered => ({ field: { type: 'string', format: 'date' }, value: day.toISOString().slice(0, 10) })),
  DAY.map((day): Answered => ({ field: { type: 'string', format: 'date-time' }, value: day.toISOString() })),
)

const numbers: fc.Arbitrary<Answered> = fc.oneof(
  fc.double({ noNaN: true, min: -1e15, max: 1e15 }).map((given): Answered => {
    const value = given + 0
    return { field: { type: 'number', minimum: value, maximum: value }, value }
  }),
  fc.maxSafeInteger().map((value): Answered => ({ field: { type: 'integer', minimum: value - 0.5 }, value })),
)

const flags = fc.boolean().map((value): Answered => ({ field: { type: 'boolean' }, value }))

const one = fc.tuple(choices, fc.nat(), fc.boolean()).map(([values, at, isTitled]): Answered => {
  const value = values[at % values.length] ?? ''
  return { field: { type: 'string', ...(isTitled ? { oneOf: titled(values) } : { enum: values }) }, value }
})

const some = fc.tuple(choices, fc.boolean()).chain(([values, isTitled]) =>
  fc.subarray([...values], { minLength: 1 }).map(
    (value): Answered => ({
      field: {
        type: 'array',
        minItems: value.length,
        items: isTitled ? { anyOf: titled(values) } : { type: 'string', enum: values },
      },
      value,
    }),
  ),
)

const fields = fc.dictionary(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/).filter((name) => !(name in Object.prototype)),
  fc.record({
    answered: fc.oneof(texts, formats, numbers, flags, one, some),
    isRequired: fc.boolean(),
    isGiven: fc.boolean(),
  }),
  { maxKeys: 8 },
)

/** A schema, and content that fits it. */
export const answers: fc.Arbitrary<{ readonly schema: AnswerSchema; readonly content: AnswerContent }> = fields.map(
  (given) => {
    const rows = Object.entries(given)
    const kept = rows.filter(([, { isRequired, isGiven }]) => isRequired || isGiven)
    return {
      schema: {
        type: 'object',
        properties: Object.fromEntries(rows.map(([name, { answered }]) => [name, answered.field])),
        required: rows.filter(([, { isRequired }]) => isRequired).map(([name]) => name),
      },
      content: Object.fromEntries(kept.map(([name, { answered }]) => [name, answered.value])),
    }
  },
)

export const answerSchemas: fc.Arbitrary<AnswerSchema> = answers.map(({ schema }) => schema)

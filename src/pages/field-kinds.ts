import type {
  AnswerField,
  AnswerSchema,
  ChoiceField,
  ChoicesField,
  FlagField,
  NumberField,
  TextField,
} from '../model/approval.ts'

/** A text to choose, and what is shown for it. */
export interface Choice {
  readonly value: string
  readonly title: string
}

/** A field with its kind: two kinds have the type `string`. */
export type FieldOfKind =
  | { readonly kind: 'text'; readonly field: TextField }
  | { readonly kind: 'number'; readonly field: NumberField }
  | { readonly kind: 'flag'; readonly field: FlagField }
  | { readonly kind: 'choice'; readonly field: ChoiceField; readonly choices: readonly Choice[] }
  | { readonly kind: 'choices'; readonly field: ChoicesField; readonly choices: readonly Choice[] }

/** Finds the kind of a field of a checked schema. */
export function kindOfField(field: AnswerField): FieldOfKind {
  switch (field.type) {
    case 'string': {
      const choices = choicesOf(field as ChoiceField)
      return choices ? { kind: 'choice', field, choices } : { kind: 'text', field }
    }
    case 'number':
    case 'integer':
      return { kind: 'number', field }
    case 'boolean':
      return { kind: 'flag', field }
    case 'array': {
      const { items } = field
      const choices = choicesOf('anyOf' in items ? { oneOf: items.anyOf } : { enum: items.enum })
      return { kind: 'choices', field, choices: choices ?? [] }
    }
  }
}

function choicesOf({ enum: values, oneOf }: Pick<ChoiceField, 'enum' | 'oneOf'>): readonly Choice[] | undefined {
  return oneOf ? oneOf.map(({ const: value, title }) => ({ value, title })) : values?.map(asChoice)
}

function asChoice(value: string): Choice {
  return { value, title: value }
}

/** Schema of one required field `choice`. Its choices are unchecked: `checkAnswerSchema` finds their faults at `/properties/choice/enum`. */
export function choicesSchema(choices: readonly string[]): AnswerSchema {
  return { type: 'object', properties: { choice: { type: 'string', enum: choices } }, required: ['choice'] }
}

/** Fewest and most characters of a text. */
export function lengthsOf({ minLength = 0, maxLength = DEFAULT_LENGTH }: TextField): readonly [number, number] {
  return [minLength, maxLength]
}

/** Greatest `maxLength` if a schema has none. */
const DEFAULT_LENGTH = 4_000

import type { Issue } from '../../../errors.ts'
import type { AnswerField, AnswerSchema, NumberField, TextField } from '../../../model/approval.ts'
import { membersOf } from '../../../model/json.ts'
import { type Choice, type FieldOfKind, kindOfField, lengthsOf } from '../../../pages/field-kinds.ts'
import { at, fault, firstIssues, repetitions, storageFault, unknownMembers } from './faults.ts'
import { FORMATS } from './formats.ts'

/**
 * Finds everything in the content of an answer that its schema does not allow: at most 20 issues, with pointers into the content.
 *
 * @param schema Without issues of `checkAnswerSchema`.
 */
export function checkContent(schema: AnswerSchema, content: unknown): readonly Issue[] {
  const members = membersOf(content)
  if (!members) return [fault('type', 'expected an object')]
  const { properties, required = [] } = schema
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const value = members[name]
    if (value !== undefined) return at(name, valueFaults(field, value))
    return required.includes(name) ? at(name, [fault('required', 'is required')]) : []
  })
  const unknown = unknownMembers(members, (name) => Object.hasOwn(properties, name), 'is no field of the schema')
  return firstIssues([...fields, ...unknown])
}

/** Faults of the value of one field. */
export function valueFaults(field: AnswerField, value: unknown): readonly Issue[] {
  const known: FieldOfKind = kindOfField(field)
  switch (known.kind) {
    case 'text':
      return typeof value === 'string' ? textFaults(known.field, value) : [fault('type', 'expected a text')]
    case 'number':
      return numberFaults(known.field, value)
    case 'flag':
      return typeof value === 'boolean' ? [] : [fault('type', 'expected true or false')]
    case 'choice':
      return choiceFaults(known.choices, value)
    case 'choices': {
      if (!Array.isArray(value)) return [fault('type', 'expected a list')]
      const { minItems = 0, maxItems = known.choices.length } = known.field
      if (value.length > maxItems) return [fault('too_many', `must be at most ${maxItems} of the choices`)]
      return [
        ...(value.length < minItems ? [fault('too_short', `must be at least ${minItems} of the choices`)] : []),
        ...value.flatMap((item, index) => at(index, choiceFaults(known.choices, item))),
        ...repetitions(value),
      ]
    }
  }
}

function choiceFaults(choices: readonly Choice[], value: unknown): readonly Issue[] {
  if (typeof value !== 'string') return [fault('type', 'expected a text')]
  return choices.some((choice) => choice.value === value) ? [] : [fault('not_allowed', 'must be one of the choices')]
}

function textFaults(field: TextField, text: string): readonly Issue[] {
  const [least, most] = lengthsOf(field)
  // Code points, as JSON Schema counts; a text has at least half as many as code units.
  const length = text.length > 2 * most ? text.length : [...text].length
  const { format } = field
  return [
    ...storageFault(text),
    ...(length < least ? [fault('too_short', `must have at least ${least} characters`)] : []),
    ...(length > most ? [fault('too_long', `must have at most ${most} characters`)] : []),
    ...(length <= most && format !== undefined && !FORMATS[format].fits(text)
      ? [fault('format', `must be ${FORMATS[format].expected}`)]
      : []),
  ]
}

function numberFaults(
  { type, minimum = -Infinity, maximum = Infinity }: NumberField,
  value: unknown,
): readonly Issue[] {
  if (typeof value !== 'number') return [fault('type', 'expected a number')]
  if (type === 'integer' && Number.isFinite(value) && !Number.isInteger(value)) {
    return [fault('type', 'expected a whole number')]
  }
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    return [fault('out_of_range', 'must be a number of at most 2^53 - 1')]
  }
  if (value < minimum) return [fault('out_of_range', `must be at least ${minimum}`)]
  return value > maximum ? [fault('out_of_range', `must be at most ${maximum}`)] : []
}

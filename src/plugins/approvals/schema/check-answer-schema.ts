import type { Issue } from '../../../errors.ts'
import type { AnswerField } from '../../../model/approval.ts'
import { membersOf } from '../../../model/json.ts'
import { kindOfField, lengthsOf } from '../../../pages/field-kinds.ts'
import { valueFaults } from './check-content.ts'
import { at, fault, firstIssues, repetitions, unknownMembers } from './faults.ts'
import { KEYWORDS, type KeywordChecks, LABELS } from './keywords.ts'

const MAX_FIELDS = 20
const FIELD_NAME = /^[A-Za-z0-9_-]{1,64}$/
const MEMBERS: readonly string[] = ['type', 'properties', 'required']

/**
 * Finds everything because of which a value is no {@link AnswerSchema}: at most 20 issues, with pointers into the value. A schema without
 * issues can be answered: its bounds leave a value for each field, and each default fits.
 *
 * @param value JSON of limited depth and size.
 */
export function checkAnswerSchema(value: unknown): readonly Issue[] {
  const schema = membersOf(value)
  if (!schema) return [fault('type', 'expected an object')]
  const properties = membersOf(schema.properties)
  const names = Object.keys(properties ?? {})
  return firstIssues([
    ...(schema.type === 'object' ? [] : at('type', [missingOr(schema.type, 'not_allowed', 'must be object')])),
    ...at(
      'properties',
      properties ? fieldsFaults(properties) : [missingOr(schema.properties, 'type', 'expected an object')],
    ),
    ...at('required', requiredFaults(schema.required, names)),
    ...unknownMembers(schema, (name) => MEMBERS.includes(name), `is not known here; known are ${MEMBERS.join(', ')}`),
  ])
}

function missingOr(value: unknown, code: 'type' | 'not_allowed', detail: string): Issue {
  return value === undefined ? fault('required', 'is required') : fault(code, detail)
}

function fieldsFaults(properties: Readonly<Record<string, unknown>>): readonly Issue[] {
  const fields = Object.entries(properties)
  const isMany = fields.length > MAX_FIELDS
  return [
    ...(isMany ? [fault('too_many', `holds more than ${MAX_FIELDS} fields`)] : []),
    ...fields.slice(0, MAX_FIELDS).flatMap(([name, field]) => at(name, [...nameFaults(name), ...fieldFaults(field)])),
  ]
}

function nameFaults(name: string): readonly Issue[] {
  if (!FIELD_NAME.test(name)) return [fault('format', 'must have a name of 1-64 of A-Z a-z 0-9 _ -')]
  return name in Object.prototype || name === 'prototype'
    ? [fault('forbidden_key', 'must have another name: JavaScript uses this one')]
    : []
}

function requiredFaults(required: unknown, names: readonly string[]): readonly Issue[] {
  if (required === undefined) return []
  if (!Array.isArray(required)) return [fault('type', 'expected a list of names of fields')]
  const unknown = required.flatMap((name, index) =>
    names.includes(name) ? [] : at(index, [fault('not_allowed', 'must be the name of a field')]),
  )
  return [...unknown, ...repetitions(required)]
}

function fieldFaults(value: unknown): readonly Issue[] {
  const field = membersOf(value)
  if (!field) return [fault('type', 'expected an object')]
  const checks = checksOf(field)
  if (!checks) {
    const types = 'must be string, number, integer, boolean or array: fields are flat'
    return [...at('type', [missingOr(field.type, 'not_allowed', types)]), ...keywordFaults(field, LABELS)]
  }
  const names = ['type', 'default', ...Object.keys(checks)]
  const unknown = unknownMembers(
    field,
    (name) => names.includes(name),
    `is no keyword of this type; known are ${names.join(', ')}`,
  )
  const faults = [...keywordFaults(field, checks), ...unknown]
  // The rules between keywords read a field whose keywords have the right types.
  return faults.length > 0 ? faults : ruleFaults(field as unknown as AnswerField)
}

/** The keywords of the field's type. `undefined`: the type is unknown. */
function checksOf({ type, enum: values, oneOf }: Readonly<Record<string, unknown>>): KeywordChecks | undefined {
  if (type === 'string') return values === undefined && oneOf === undefined ? KEYWORDS.text : KEYWORDS.choice
  if (type === 'number' || type === 'integer') return KEYWORDS.number
  if (type === 'boolean') return KEYWORDS.flag
  return type === 'array' ? KEYWORDS.choices : undefined
}

function keywordFaults(field: Readonly<Record<string, unknown>>, checks: KeywordChecks): readonly Issue[] {
  return Object.entries(checks).flatMap(([name, check]) => {
    const value = field[name]
    return at(name, value === undefined ? absenceFaults(name, checks) : check(value))
  })
}

/** Of all keywords, only `items` is required. */
function absenceFaults(name: string, checks: KeywordChecks): readonly Issue[] {
  return name === 'items' && checks === KEYWORDS.choices ? [fault('required', 'is required')] : []
}

/** Faults between keywords, and a default that does not fit. */
function ruleFaults(field: AnswerField): readonly Issue[] {
  const faults = boundFaults(field)
  if (faults.length > 0 || field.default === undefined) return faults
  return at('default', valueFaults(field, field.default))
}

function boundFaults(field: AnswerField): readonly Issue[] {
  const known = kindOfField(field)
  switch (known.kind) {
    case 'text': {
      const [least, most] = lengthsOf(known.field)
      return above('minLength', least, `maxLength, which is ${most}`, most)
    }
    case 'number': {
      const { type, minimum = -Infinity, maximum = Infinity } = known.field
      if (type === 'number') return above('minimum', minimum, `maximum, which is ${maximum}`, maximum)
      return above('minimum', minimum, 'the greatest whole number up to maximum', Math.floor(maximum))
    }
    case 'choice':
      return known.field.enum && known.field.oneOf ? at('oneOf', [fault('conflict', 'must not stand beside enum')]) : []
    case 'choices': {
      const { minItems = 0, maxItems = known.choices.length } = known.field
      return above('minItems', minItems, 'maxItems and the number of choices', Math.min(maxItems, known.choices.length))
    }
    case 'flag':
      return []
  }
}

function above(keyword: string, value: number, limit: string, most: number): readonly Issue[] {
  return value > most ? at(keyword, [fault('out_of_range', `must not be above ${limit}`)]) : []
}

import type { Issue } from '../../../errors.ts'
import { membersOf } from '../../../model/json.ts'
import { at, fault, repetitions, storageFault, unknownMembers } from './faults.ts'
import { FORMATS } from './formats.ts'

type KeywordCheck = (value: unknown) => readonly Issue[]
export type KeywordChecks = Readonly<Record<string, KeywordCheck>>

const MAX_TITLE = 200
const MAX_DESCRIPTION = 500
/** Longest text that a field may allow. */
const MAX_LENGTH = 10_000
const MAX_CHOICES = 50

const title: KeywordCheck = (value) => lineFaults(value, MAX_TITLE)

const description: KeywordCheck = (value) => textFaults(value, MAX_DESCRIPTION)

/** A default is checked against its whole field. */
const length: KeywordCheck = (value) => wholeFaults(value, MAX_LENGTH)

const count: KeywordCheck = (value) => wholeFaults(value, MAX_CHOICES)

const format: KeywordCheck = (value) =>
  typeof value === 'string' && Object.hasOwn(FORMATS, value)
    ? []
    : [fault('not_allowed', `must be one of ${Object.keys(FORMATS).join(', ')}`)]

const bound: KeywordCheck = (value) => {
  const isNumber = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return isNumber ? [] : [fault('type', 'expected a number between -2^53 and 2^53')]
}

const values: KeywordCheck = (value) => listFaults(value, (item) => lineFaults(item, MAX_TITLE))

/** Choices with titles. Each title is there once too: a person could not tell two of them apart. */
const titledValues: KeywordCheck = (value) => [
  ...listFaults(value, titledFaults, 'const'),
  ...(Array.isArray(value) ? repeated(value.slice(0, MAX_CHOICES), 'title') : []),
]

const items: KeywordCheck = (value) => {
  const members = membersOf(value)
  if (!members) return [fault('type', 'expected an object')]
  if (members.anyOf !== undefined) {
    return [...at('anyOf', titledValues(members.anyOf)), ...strangers(members, ['anyOf'])]
  }
  return [
    ...(members.type === 'string' ? [] : at('type', [fault('not_allowed', 'must be string, beside an enum')])),
    ...at('enum', members.enum === undefined ? [fault('required', 'is required')] : values(members.enum)),
    ...strangers(members, ['type', 'enum']),
  ]
}

/** Keywords of every field. */
export const LABELS: KeywordChecks = { title, description }

/** Keywords of each kind of field, beside `type` and `default`. */
export const KEYWORDS: Readonly<Record<'text' | 'number' | 'flag' | 'choice' | 'choices', KeywordChecks>> = {
  text: { ...LABELS, minLength: length, maxLength: length, format },
  number: { ...LABELS, minimum: bound, maximum: bound },
  flag: LABELS,
  choice: { ...LABELS, enum: values, oneOf: titledValues },
  choices: { ...LABELS, minItems: count, maxItems: count, items },
}

function titledFaults(value: unknown): readonly Issue[] {
  const members = membersOf(value)
  if (!members) return [fault('type', 'expected an object with const and title')]
  return [
    ...at('const', lineFaults(members.const, MAX_TITLE)),
    ...at('title', lineFaults(members.title, MAX_TITLE)),
    ...strangers(members, ['const', 'title']),
  ]
}

function strangers(members: Readonly<Record<string, unknown>>, known: readonly string[]): readonly Issue[] {
  return unknownMembers(members, (name) => known.includes(name), `is not known here; known are ${known.join(', ')}`)
}

/** Faults of a list of choices. `key`: the member of an item that must differ from those of the others. */
function listFaults(value: unknown, itemFaults: KeywordCheck, key?: 'const'): readonly Issue[] {
  if (!Array.isArray(value)) return [fault('type', 'expected a list of choices')]
  if (value.length === 0) return [fault('too_short', 'must hold a choice')]
  const items = value.slice(0, MAX_CHOICES)
  return [
    ...(value.length > MAX_CHOICES ? [fault('too_many', `holds more than ${MAX_CHOICES} choices`)] : []),
    ...items.flatMap((item, index) => at(index, itemFaults(item))),
    ...(key === undefined ? repetitions(items) : repeated(items, key)),
  ]
}

function repeated(items: readonly unknown[], key: 'const' | 'title'): readonly Issue[] {
  return repetitions(items.map((item) => membersOf(item)?.[key])).map((one) => ({
    ...one,
    pointer: `${one.pointer}/${key}`,
  }))
}

/** A choice or a title: a browser sends line breaks in another form, and a blank choice could not be read. */
function lineFaults(value: unknown, most: number): readonly Issue[] {
  if (value === undefined) return [fault('required', 'is required')]
  if (typeof value !== 'string') return [fault('type', 'expected a text')]
  if (value.trim() === '') return [fault('too_short', 'must not be blank')]
  const isLine = !/[\r\n]/.test(value)
  return [...(isLine ? [] : [fault('format', 'must be one line')]), ...textFaults(value, most)]
}

function textFaults(value: unknown, most: number): readonly Issue[] {
  if (typeof value !== 'string') return [fault('type', 'expected a text')]
  const isLong = value.length > most
  return [...(isLong ? [fault('too_long', `must have at most ${most} characters`)] : []), ...storageFault(value)]
}

function wholeFaults(value: unknown, most: number): readonly Issue[] {
  if (typeof value !== 'number' || !Number.isInteger(value)) return [fault('type', 'expected a whole number')]
  return value >= 0 && value <= most ? [] : [fault('out_of_range', `must be a whole number from 0 to ${most}`)]
}

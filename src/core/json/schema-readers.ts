import * as v from 'valibot'
import type { IssueCode } from '../../errors.ts'
import { isPlain } from './safety-check.ts'

type FaultCode = Extract<
  IssueCode,
  'type' | 'format' | 'out_of_range' | 'too_short' | 'too_long' | 'too_many' | 'not_allowed'
>

/** What is wrong with a value. */
export interface ReadFault {
  readonly code: FaultCode
  /** Never holds the value. With `not_allowed`: what is, after the words "expected one of". */
  readonly detail: string
  /** Where inside the value. */
  readonly path?: readonly string[]
}

/** The valibot check that stands for a code, so that `validate` tells it as that code. */
const TOLD_AS: Readonly<Record<FaultCode, string>> = {
  type: 'integer',
  format: 'regex',
  out_of_range: 'min_value',
  too_short: 'min_length',
  too_long: 'max_length',
  too_many: 'max_entries',
  not_allowed: 'picklist',
}

/** Gives out what a schema would for a value with nothing wrong; {@link TELL} where valibot is to say what is. */
type Quick = (value: unknown) => unknown

const TELL: unique symbol = Symbol('tell')
const QUICK = new WeakMap<v.GenericSchema, Quick>()

/** Schemas of valibot's own, which have no quick way, are run as they are. */
function quickOf(schema: v.GenericSchema): Quick {
  const run: Quick = (value) => {
    const { typed, issues, value: output } = schema['~run']({ value }, {})
    return typed && !issues ? output : TELL
  }
  return QUICK.get(schema) ?? run
}

/** Faults that only have to be noticed. */
const noticed: ReadFault[] = []

/**
 * A schema whose values are read by one function, which gives the value out or pushes what is wrong with it. For what a pipe
 * of checks would parse twice, or could not give a code. The schema it replaces still describes it in a JSON schema.
 */
export function reading<S extends v.GenericSchema>(
  schema: S,
  read: (value: unknown, faults: ReadFault[]) => v.InferOutput<S>,
): S {
  const readable: S = Object.assign(schema, {
    '~run'({ value }: v.UnknownDataset): v.OutputDataset<v.InferOutput<S>, v.BaseIssue<unknown>> {
      if (value === undefined) return { typed: false, value, issues: [missing()] }
      const faults: ReadFault[] = []
      const output = read(value, faults)
      const [first, ...others] = faults
      if (!first) return { typed: true, value: output }
      return {
        typed: false,
        value: output,
        issues: [issueOf(first, value), ...others.map((fault) => issueOf(fault, value))],
      }
    },
  })
  QUICK.set(readable, (value) => {
    if (value === undefined) return TELL
    const output = read(value, noticed)
    if (noticed.length === 0) return output
    noticed.length = 0
    return TELL
  })
  return readable
}

/** A field that may be left out. `null` says the same: it, and `undefined`, are given out as `undefined`. */
export function optional<S extends v.GenericSchema>(wrapped: S): v.ExactOptionalSchema<S, undefined> {
  const schema = Object.assign(v.exactOptional(wrapped), {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) {
      if (dataset.value !== undefined && dataset.value !== null) return wrapped['~run'](dataset, config)
      return { typed: true as const, value: undefined }
    },
  })
  const quick = quickOf(wrapped)
  QUICK.set(schema, (value) => (value === undefined || value === null ? undefined : quick(value)))
  return schema
}

/**
 * An object of such fields. As valibot's, which tells what is wrong; but where nothing is, only the fields that were sent are
 * looked at, and what was not told is not there.
 */
export function objectOf<Entries extends v.ObjectEntries>(entries: Entries): v.ObjectSchema<Entries, undefined> {
  const object = v.object(entries)
  const telling = object['~run'].bind(object)
  const fields = new Map(Object.entries(entries).map(([key, field]) => [key, quickOf(field)]))
  const required = Object.keys(entries).filter((key) => entries[key]?.type !== 'exact_optional')
  const quick: Quick = (value) => {
    const members = membersOf(value)
    if (!members) return TELL
    const output: Record<string, unknown> = {}
    for (const key in members) {
      const field = fields.get(key)
      const reported = field ? field(members[key]) : unknownField(members[key])
      if (reported === TELL) return TELL
      if (reported !== undefined) output[key] = reported
    }
    for (const key of required) if (output[key] === undefined) return TELL
    return output
  }
  const schema = Object.assign(object, {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>): ReturnType<typeof telling> {
      const output = quick(dataset.value)
      // Every field has passed its own schema, and none that is required is missing.
      return output === TELL ? telling(dataset, config) : { typed: true, value: output as v.InferOutput<typeof object> }
    },
  })
  QUICK.set(schema, quick)
  return schema
}

/** A field that nobody asked for is no fault, but is to be told. */
const unknownField: Quick = (value) => (value === undefined ? undefined : TELL)

/** A list of at most `max`. Into a longer one nobody looks: it may be very long. */
export function listOf<S extends v.GenericSchema>(item: S, max: number): v.GenericSchema<v.InferOutput<S>[]> {
  const list = v.array(item)
  const detail = `expected at most ${max}`
  const schema = Object.assign(v.pipe(list, v.maxLength(max, detail)), {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>): ReturnType<(typeof list)['~run']> {
      const { value } = dataset
      if (!Array.isArray(value) || value.length <= max) return list['~run'](dataset, config)
      return { typed: false, value, issues: [issueOf({ code: 'too_many', detail }, value)] }
    },
  })
  const quick = quickOf(item)
  QUICK.set(schema, (value) => {
    if (!Array.isArray(value) || value.length > max) return TELL
    const items = value.map(quick)
    return items.includes(TELL) ? TELL : items
  })
  return schema
}

/** The output of a schema made here for a body with nothing to tell: no fault, no unknown field. Otherwise `undefined`. */
export function readQuickly<T>(schema: v.GenericSchema<unknown, T>, body: unknown): { readonly value: T } | undefined {
  const value = QUICK.get(schema)?.(body) ?? TELL
  // Every field has passed its own schema.
  return value === TELL ? undefined : { value: value as T }
}

/** A plain object, such as JSON has, or `undefined`. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value)
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
}

/** Told as `required`. Made anew for every place, since valibot writes the path into it. */
function missing(): v.BaseIssue<unknown> {
  return { kind: 'schema', type: 'undefined', input: undefined, expected: null, received: 'undefined', message: '' }
}

function issueOf({ code, detail, path }: ReadFault, input: unknown): v.BaseIssue<unknown> {
  const issue = {
    kind: code === 'not_allowed' ? ('schema' as const) : ('validation' as const),
    type: TOLD_AS[code],
    input,
    expected: detail,
    received: 'another value',
    message: detail,
  }
  const [first, ...others] = path ?? []
  if (first === undefined) return issue
  return { ...issue, path: [step(first), ...others.map(step)] }
}

function step(key: string): v.UnknownPathItem {
  return { type: 'unknown', origin: 'value', input: undefined, key, value: undefined }
}

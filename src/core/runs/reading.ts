import * as v from 'valibot'
import type { IssueCode } from '../../errors.ts'

/** What is wrong with a value. */
export interface Fault {
  readonly code: Extract<IssueCode, keyof typeof TOLD_AS>
  /** Never holds the value. With `not_allowed`: what is, after the words "expected one of". */
  readonly detail: string
  /** Where inside the value. */
  readonly path?: readonly string[]
}

/** The valibot check that stands for a code, so that `validate` tells it as that code. */
const TOLD_AS = {
  type: 'integer',
  format: 'regex',
  out_of_range: 'min_value',
  too_long: 'max_length',
  too_many: 'max_entries',
  not_allowed: 'picklist',
} as const satisfies Partial<Record<IssueCode, string>>

/**
 * A schema whose values are read by one function, which gives the value out or pushes what is wrong with it. For what a pipe
 * of checks would parse twice, or could not give a code. The schema it replaces still describes it in a JSON schema.
 */
export function reading<S extends v.GenericSchema>(
  schema: S,
  read: (value: unknown, faults: Fault[]) => v.InferOutput<S>,
): S {
  return Object.assign(schema, {
    '~run'({ value }: v.UnknownDataset): v.OutputDataset<v.InferOutput<S>, v.BaseIssue<unknown>> {
      const faults: Fault[] = []
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
}

/** A field that may be left out. `null` says the same: it, and `undefined`, are given out as `undefined`. */
export function optional<S extends v.GenericSchema>(wrapped: S): v.ExactOptionalSchema<S, undefined> {
  return Object.assign(v.exactOptional(wrapped), {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) {
      if (dataset.value !== undefined && dataset.value !== null) return wrapped['~run'](dataset, config)
      return { typed: true as const, value: undefined }
    },
  })
}

/** An object that is no array, or `undefined`. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
}

function issueOf({ code, detail, path }: Fault, input: unknown): v.BaseIssue<unknown> {
  const issue = {
    kind: code === 'not_allowed' ? ('schema' as const) : ('validation' as const),
    type: TOLD_AS[code],
    input,
    expected: detail,
    received: 'another value',
    message: detail,
  }
  if (!path) return issue
  const [first = '', ...others] = path
  return { ...issue, path: [step(first), ...others.map(step)] }
}

function step(key: string): v.UnknownPathItem {
  return { type: 'unknown', origin: 'value', input: undefined, key, value: undefined }
}

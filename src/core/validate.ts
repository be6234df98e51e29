import * as v from 'valibot'
import type { Issue, IssueCode } from '../errors.ts'
import type { Warning } from '../model/dispatch.ts'
import { guardJson } from './guard-json.ts'
import { pointerTo } from './json-pointer.ts'
import { type Refused, refuse } from './result.ts'

/** A body that is what its schema says, and what it held beyond that. */
export interface Valid<T> {
  readonly value: T
  readonly warnings: readonly Warning[]
}

/** Checks a parsed body: first that it is harmless, then that it fits. All the faults are told at once. */
export function validate<T>(schema: v.GenericSchema<unknown, T>, body: unknown): Valid<T> | Refused {
  const dangers = guardJson(body)
  if (dangers.length > 0) return invalid(dangers)
  const result = v.safeParse(schema, body)
  if (!result.success) return invalid(result.issues.map(describeIssue))
  const warnings: Warning[] = []
  collectUnknown(schema, body, '', warnings)
  return { value: result.output, warnings }
}

/** The refusal that lists faults of a body. */
export function invalid(errors: readonly Issue[]): Refused {
  return refuse(
    'validation_failed',
    `${errors.length === 1 ? 'One place' : `${errors.length} places`} in the body cannot be accepted.`,
    {
      errors,
    },
  )
}

/** Codes of valibot's checks; everything else that is checked is `invalid`. */
const CHECK_CODES: Readonly<Record<string, IssueCode>> = {
  regex: 'format',
  min_length: 'too_short',
  max_length: 'too_long',
  max_entries: 'too_many',
  integer: 'type',
  safe_integer: 'out_of_range',
  min_value: 'out_of_range',
  max_value: 'out_of_range',
}

/** Our own words for a valibot issue: its own may quote the value. Checks carry a message of ours. */
function describeIssue(issue: v.BaseIssue<unknown>): Issue {
  const pointer = issue.path?.reduce((at, { key }) => pointerTo(at, String(key)), '') ?? ''
  if (issue.kind === 'validation') return { pointer, code: CHECK_CODES[issue.type] ?? 'invalid', detail: issue.message }
  if (issue.received === 'undefined') return { pointer, code: 'required', detail: 'is required' }
  if (issue.type === 'picklist') return { pointer, code: 'not_allowed', detail: `expected one of ${issue.expected}` }
  return { pointer, code: 'type', detail: `expected ${(issue.expected ?? 'another type').toLowerCase()}` }
}

const MAX_WARNINGS = 50

/** The parts of a valibot schema that say which fields it knows. */
interface Inspectable {
  readonly type?: string
  readonly entries?: Readonly<Record<string, Inspectable>>
  readonly wrapped?: Inspectable
  readonly item?: Inspectable
}

function collectUnknown(schema: Inspectable, value: unknown, pointer: string, warnings: Warning[]): void {
  if (typeof value !== 'object' || value === null) return
  const { wrapped, item, entries } = schema
  if (wrapped) collectUnknown(wrapped, value, pointer, warnings)
  else if (item && Array.isArray(value)) {
    for (const [index, element] of value.entries()) collectUnknown(item, element, pointerTo(pointer, index), warnings)
  } else if (schema.type === 'object' && entries) {
    for (const [key, member] of Object.entries(value)) {
      const at = pointerTo(pointer, key)
      const known = Object.hasOwn(entries, key) ? entries[key] : undefined
      if (known) collectUnknown(known, member, at, warnings)
      else if (member !== undefined && warnings.length < MAX_WARNINGS) {
        warnings.push({ code: 'unknown_field', pointer: at, detail: 'is not known here and was dropped' })
      }
    }
  }
}

import type { Issue } from '../../../errors.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { DataOutcome } from '../../../ports/event-catalog.ts'
import { pointerTo } from '../../json/json-pointer.ts'
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts'

const BASE = '/eventData'
const MAX_EXPECTED = 200
/** Libraries that tell what they expected apart from what they got. */
const TELLS_APART = new Set(['valibot', 'zod', 'arktype'])
/** In a union, arktype does not. */
const TELLS_VALUE = '(was '

/** Checks an event's data against its schema; without one, any object will do. */
export function checkData(
  schema: StandardSchema | undefined,
  eventData: JsonObject,
): DataOutcome | Promise<DataOutcome> {
  if (!schema) return { outcome: 'valid', data: eventData }
  const { vendor } = schema['~standard']
  try {
    const result = schema['~standard'].validate(eventData)
    if (!('then' in result)) return outcomeOf(result, eventData, vendor)
    return result.then((settled) => outcomeOf(settled, eventData, vendor)).catch(unreadable)
  } catch (cause) {
    return unreadable(cause)
  }
}

/** A transformation in the schema threw: at what was sent, since nothing else goes in. */
function unreadable(cause: unknown): DataOutcome {
  const issue = { pointer: BASE, code: 'invalid', detail: "could not be read by the event's data schema" } as const
  return { outcome: 'invalid', issues: [issue], cause }
}

function outcomeOf(result: StandardResult<unknown>, eventData: JsonObject, vendor: string): DataOutcome {
  if (!result.issues) return { outcome: 'valid', data: result.value }
  return { outcome: 'invalid', issues: result.issues.map((issue) => describeIssue(issue, eventData, vendor)) }
}

/**
 * Says where, and what was expected where that can be told apart from the value. The library's own message is left out,
 * since most quote what was sent.
 */
function describeIssue(issue: StandardIssue, eventData: JsonObject, vendor: string): Issue {
  const keys = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
  const pointer = keys.reduce<string>(pointerTo, BASE)
  if (valueAt(eventData, keys) === undefined) return { pointer, code: 'required', detail: 'is required' }
  const expected = TELLS_APART.has(vendor) && 'expected' in issue ? issue.expected : undefined
  const isReported = typeof expected === 'string' && expected.length <= MAX_EXPECTED && !expected.includes(TELLS_VALUE)
  return {
    pointer,
    code: 'invalid',
    detail: isReported ? `expected ${expected}` : "does not fit the event's data schema",
  }
}

function valueAt(root: unknown, keys: readonly PropertyKey[]): unknown {
  return keys.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined),
    root,
  )
}

import type { JsonObject, JsonValue } from '../../../model/json.ts'
import { keysOf } from '../../../model/json-pointer.ts'
import { isRecord } from '../../../options/read-options.ts'

type Schema = Readonly<Record<string, unknown>>

/** Deepest member: a schema may contain itself. */
const MAX_DEPTH = 8

/**
 * Data with the members that a schema requires, each empty: `""`, `0`, `false`, `[]`; the first of several values or shapes. A start for a
 * person who types the rest. `undefined`: the schema tells no object, or throws.
 */
export function dataSkeleton(schema: unknown): JsonObject | undefined {
  try {
    const standard: unknown =
      isRecord(schema) || typeof schema === 'function' ? Reflect.get(schema, '~standard') : undefined
    if (!isRecord(standard)) return undefined
    const skeleton = standard.vendor === 'valibot' ? ofValibot(schema, 0) : ofDocument(standard.jsonSchema)
    return isRecord(skeleton) ? (skeleton as JsonObject) : undefined
  } catch {
    return undefined
  }
}

/** @param converter Of a Standard JSON Schema, such as those of zod and arktype. */
function ofDocument(converter: unknown): JsonValue | undefined {
  if (!isRecord(converter) || typeof converter.input !== 'function') return undefined
  const document: unknown = converter.input({ target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } })
  return isRecord(document) ? ofJsonSchema(document, document, 0) : undefined
}

function ofJsonSchema(schema: unknown, document: Schema, depth: number): JsonValue {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null
  const { $ref, anyOf, oneOf, allOf, type, properties, required } = schema
  if (typeof $ref === 'string') return ofJsonSchema(referred($ref, document), document, depth + 1)
  const [first] = [schema.enum, anyOf, oneOf].flatMap((values) => (Array.isArray(values) ? [values[0]] : []))
  if ('const' in schema) return schema.const as JsonValue
  if (Array.isArray(schema.enum)) return first as JsonValue
  if (first !== undefined) return ofJsonSchema(first, document, depth + 1)
  if (Array.isArray(allOf)) return merged(allOf.map((one) => ofJsonSchema(one, document, depth + 1)))
  if (!isRecord(properties)) return EMPTY[String(Array.isArray(type) ? type[0] : type)] ?? null
  const names = Object.keys(properties).filter((name) => Array.isArray(required) && required.includes(name))
  return Object.fromEntries(names.map((name) => [name, ofJsonSchema(properties[name], document, depth + 1)]))
}

function referred(reference: string, document: Schema): unknown {
  return keysOf(decodeURIComponent(reference.slice(1))).reduce<unknown>(
    (at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    document,
  )
}

/** Types of JSON Schema, and those of valibot with the same names. */
const EMPTY: Readonly<Record<string, JsonValue>> = {
  string: '',
  number: 0,
  integer: 0,
  boolean: false,
  array: [],
  object: {},
  record: {},
}

const OPTIONAL: readonly unknown[] = ['optional', 'exact_optional', 'undefinedable', 'nullish']

function ofValibot(schema: unknown, depth: number): JsonValue {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null
  const { type, entries, options, wrapped, literal } = schema
  if (isRecord(entries)) {
    const required = Object.entries(entries).filter(([, one]) => !(isRecord(one) && OPTIONAL.includes(one.type)))
    return Object.fromEntries(required.map(([name, one]) => [name, ofValibot(one, depth + 1)]))
  }
  if (type === 'literal') return literal as JsonValue
  if (type === 'nullable') return null
  if (wrapped !== undefined) return ofValibot(wrapped, depth + 1)
  if (!Array.isArray(options)) return EMPTY[String(type)] ?? null
  if (type === 'intersect') return merged(options.map((one) => ofValibot(one, depth + 1)))
  return type === 'picklist' || type === 'enum' ? options[0] : ofValibot(options[0], depth + 1)
}

function merged(parts: readonly JsonValue[]): JsonValue {
  return parts.every(isRecord) ? Object.assign({}, ...parts) : (parts[0] ?? null)
}

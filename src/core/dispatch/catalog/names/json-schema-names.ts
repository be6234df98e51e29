import { keysOf } from '../../../../model/json-pointer.ts'
import { isRecord } from '../../../../options/read-options.ts'
import type { ReadSchema, SchemaPart } from './names-below.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Reader of one JSON Schema document (draft 2020-12).
 *
 * @param isClosed An object without `additionalProperties` has only the names of its `properties`.
 */
export function jsonSchemaReader(document: Schema, isClosed: boolean): ReadSchema {
  return (schema) => {
    if (schema === false) return {}
    if (!isRecord(schema)) return undefined
    const same = [
      ...referred(schema.$ref, document),
      ...['anyOf', 'oneOf', 'allOf'].flatMap((key) => list(schema[key])),
    ]
    const part = partOf(schema, isClosed, same.length > 0)
    return part && { ...part, same }
  }
}

/** Open if it points to another document, or to nothing. */
function referred(reference: unknown, document: Schema): readonly unknown[] {
  if (reference === undefined) return []
  if (typeof reference !== 'string' || !reference.startsWith('#')) return [true]
  const found = keysOf(decodeURIComponent(reference.slice(1))).reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined),
    document,
  )
  return [found]
}

function partOf(schema: Schema, isClosed: boolean, hasSame: boolean): SchemaPart | undefined {
  const { type } = schema
  if (Array.isArray(type)) return mergeParts(type.map((one) => partOfType(one, schema, isClosed)))
  if (type !== undefined) return partOfType(type, schema, isClosed)
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (Array.isArray(values)) return values.every(isScalar) ? { isText: true } : undefined
  return hasSame && schema.properties === undefined ? {} : undefined
}

/** Parts of different types. */
function mergeParts(parts: readonly (SchemaPart | undefined)[]): SchemaPart | undefined {
  let merged: SchemaPart = {}
  for (const part of parts) {
    if (!part) return undefined
    merged = { ...merged, ...part }
  }
  return merged
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function partOfType(type: unknown, schema: Schema, isClosed: boolean): SchemaPart | undefined {
  switch (type) {
    case 'object':
      return partOfObject(schema, isClosed)
    case 'array':
      return { elements: [...list(schema.prefixItems), schema.items ?? true] }
    case 'string':
      return { isText: true }
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return {}
    default:
      return undefined
  }
}

function partOfObject(schema: Schema, isClosed: boolean): SchemaPart | undefined {
  const { properties, patternProperties, additionalProperties } = schema
  const isOpen =
    additionalProperties === undefined ? !isClosed || properties === undefined : additionalProperties !== false
  if (isOpen || patternProperties !== undefined) return undefined
  return { names: isRecord(properties) ? Object.entries(properties) : [] }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

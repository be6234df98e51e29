import { ignoreRejection } from '../../../../model/thrown.ts'
import { isRecord } from '../../../../options/read-options.ts'
import type { SchemaPart } from './names-below.ts'

/** Actions that leave the names of a value as they are. */
const KEEPING: readonly unknown[] = ['brand', 'flavor', 'readonly', 'filter_items', 'sort_items']

/** Reads the output of a valibot schema, synchronous or not. */
export function readValibot(schema: unknown): SchemaPart | undefined {
  if (!isRecord(schema) || schema.kind !== 'schema') return undefined
  return Array.isArray(schema.pipe) ? outputOfPipe(schema.pipe) : partOf(schema)
}

/** The last schema of a pipe gives the names, unless a later action changes them. A pipe starts with a schema. */
function outputOfPipe(pipe: readonly unknown[]): SchemaPart | undefined {
  for (const item of [...pipe].reverse()) {
    if (!isRecord(item)) return undefined
    if (item.kind === 'schema') return readValibot(item)
    if (item.kind === 'transformation' && !KEEPING.includes(item.type)) return undefined
  }
  return undefined
}

function partOf(schema: Readonly<Record<string, unknown>>): SchemaPart | undefined {
  const { type, entries, options, wrapped, item, items, rest } = schema
  switch (type) {
    case 'object':
    case 'strict_object':
      return isRecord(entries) ? { names: Object.entries(entries) } : undefined
    case 'array':
      return { elements: [item] }
    case 'tuple':
    case 'strict_tuple':
      return { elements: list(items) }
    case 'tuple_with_rest':
      return { elements: [...list(items), rest] }
    case 'union':
    case 'variant':
    case 'intersect':
      return { same: list(options) }
    case 'optional':
    case 'exact_optional':
    case 'undefinedable':
    case 'nullable':
    case 'nullish':
    case 'non_optional':
    case 'non_nullable':
    case 'non_nullish':
      return { same: [wrapped] }
    case 'lazy':
      return fromGetter(schema.getter)
    case 'string':
    case 'literal':
    case 'picklist':
    case 'enum':
      return { isText: true }
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'nan':
    case 'null':
    case 'undefined':
    case 'void':
    case 'never':
      return {}
    default:
      return undefined
  }
}

/** A getter with a parameter may choose its schema by the value. */
function fromGetter(getter: unknown): SchemaPart | undefined {
  if (typeof getter !== 'function' || getter.length > 0) return undefined
  const schema: unknown = getter()
  ignoreRejection(schema)
  return { same: [schema] }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

import type { JsonValue } from '../model/json.ts'
import type { OpenApiSchema } from './open-api-document.ts'

/** A JSON Schema of the values of `T`, and of no others: it takes the place of no other type's. */
export interface SchemaOf<T> {
  /** What is written where it is used. */
  readonly json: OpenApiSchema
  /** Never there at run time. */
  readonly '~of'?: (value: T) => T
}

/** A schema by the name that the document has it under. */
export interface NamedSchema {
  readonly name: string
  readonly definition: OpenApiSchema
}

/** A schema that is written once, under its name, and pointed to. */
export interface Component<T> extends SchemaOf<T>, NamedSchema {}

/** A field that may be left out. */
export interface Optional<T> {
  readonly optional: SchemaOf<T>
}

/** A schema for each field of an interface. What one of the two has and the other has not is a type error. */
export type FieldsOf<T> = {
  readonly [Field in keyof T]-?: object extends Pick<T, Field>
    ? Optional<Exclude<T[Field], undefined>>
    : SchemaOf<T[Field]>
}

export function object<T extends object>(fields: FieldsOf<T>, description?: string): SchemaOf<T> {
  const entries = Object.entries(fields as unknown as Readonly<Record<string, SchemaOf<unknown> | Optional<unknown>>>)
  const required = entries.filter(([, field]) => !('optional' in field)).map(([name]) => name)
  const properties = entries.map(([name, field]) => [name, 'optional' in field ? field.optional.json : field.json])
  return {
    json: {
      type: 'object',
      ...(description !== undefined && { description }),
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    },
  }
}

export function optionalSchema<T>(schema: SchemaOf<T>): Optional<T> {
  return { optional: schema }
}

export function component<T>(name: string, { json }: SchemaOf<T>): Component<T> {
  return { name, definition: json, json: reference(name) }
}

/** Points to a schema of the document. */
export function reference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

export function textSchema(description?: string): SchemaOf<string> {
  return { json: { type: 'string', ...(description !== undefined && { description }) } }
}

export function instantSchema(description?: string): SchemaOf<string> {
  return { json: { type: 'string', format: 'date-time', ...(description !== undefined && { description }) } }
}

/** What JSON numbers carry exactly. */
export function wholeSchema(minimum: number, description?: string): SchemaOf<number> {
  const maximum = Number.MAX_SAFE_INTEGER
  return { json: { type: 'integer', minimum, maximum, ...(description !== undefined && { description }) } }
}

export function flag(description?: string): SchemaOf<boolean> {
  return { json: { type: 'boolean', ...(description !== undefined && { description }) } }
}

export function always<const T extends string | number | boolean>(value: T, description?: string): SchemaOf<T> {
  return { json: { const: value, ...(description !== undefined && { description }) } }
}

/** Any JSON value. */
export function anything(description?: string): SchemaOf<JsonValue> {
  return { json: description === undefined ? {} : { description } }
}

/** The members of a closed union, each with what it means. */
export function oneOfSchema<T extends string>(meanings: Readonly<Record<T, string>>, about: string): SchemaOf<T> {
  const reported = Object.entries<string>(meanings).map(([value, meaning]) => `- \`${value}\`: ${meaning}`)
  return { json: { type: 'string', enum: Object.keys(meanings), description: [about, '', ...reported].join('\n') } }
}

/** The members of a closed union whose names say it all. */
export function among<T extends string>(members: Readonly<Record<T, true>>, description?: string): SchemaOf<T> {
  const json = { type: 'string', enum: Object.keys(members), ...(description !== undefined && { description }) }
  return { json }
}

export function list<T>({ json }: SchemaOf<T>, description?: string): SchemaOf<readonly T[]> {
  return { json: { type: 'array', ...(description !== undefined && { description }), items: json } }
}

export function either<A, B>(a: SchemaOf<A>, b: SchemaOf<B>): SchemaOf<A | B> {
  return { json: { anyOf: [a.json, b.json] } }
}

/** An object with any keys. */
export function map<T>({ json }: SchemaOf<T>, description: string): SchemaOf<Readonly<Record<string, T>>> {
  return { json: { type: 'object', description, additionalProperties: json } }
}

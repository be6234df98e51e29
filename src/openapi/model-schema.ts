import type { JsonValue } from '../model/json.ts'
import type { OpenApiSchema } from './open-api-document.ts'

/** A JSON Schema of exactly the values of `T`. */
export interface SchemaOf<T> {
  /** The JSON at each use of the schema. */
  readonly json: OpenApiSchema
  /** For the type only; absent at run time. */
  readonly '~of'?: (value: T) => T
}

/** The schema of the body of a request or an answer. */
export type BodySchema = Pick<SchemaOf<unknown>, 'json'>

/** Member of a reference for what it refers to. JSON leaves it out. */
export const DEFINED: unique symbol = Symbol('definition')

interface Optional<T> {
  readonly optional: SchemaOf<T>
}

/** A schema for each field of an interface: a missing or an extra one is a type error. */
export type FieldsOf<T> = {
  readonly [Field in keyof T]-?: object extends Pick<T, Field>
    ? Optional<Exclude<T[Field], undefined>>
    : SchemaOf<T[Field]>
}

export function reference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

function described(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description }
}

/** Builders of schemas. */
export const s = {
  text(description?: string): SchemaOf<string> {
    return { json: { type: 'string', ...described(description) } }
  },

  instant(description?: string): SchemaOf<string> {
    return { json: { type: 'string', format: 'date-time', ...described(description) } }
  },

  /** An integer that JSON numbers represent exactly. */
  whole(minimum: number, description?: string): SchemaOf<number> {
    return { json: { type: 'integer', minimum, maximum: Number.MAX_SAFE_INTEGER, ...described(description) } }
  },

  flag(description?: string): SchemaOf<boolean> {
    return { json: { type: 'boolean', ...described(description) } }
  },

  always<const T extends string | number | boolean>(value: T, description?: string): SchemaOf<T> {
    return { json: { const: value, ...described(description) } }
  },

  anything(description?: string): SchemaOf<JsonValue> {
    return { json: described(description) }
  },

  /** A closed union, with the meaning of each member. */
  oneOf<T extends string>(about: string, meanings: Readonly<Record<T, string>>): SchemaOf<T> {
    const lines = Object.entries<string>(meanings).map(([value, meaning]) => `- \`${value}\`: ${meaning}`)
    return { json: { type: 'string', enum: Object.keys(meanings), description: [about, '', ...lines].join('\n') } }
  },

  /** A closed union whose names need no explanation. */
  among<T extends string>(members: Readonly<Record<T, true>>): SchemaOf<T> {
    return { json: { type: 'string', enum: Object.keys(members) } }
  },

  list<T>({ json }: SchemaOf<T>, description?: string): SchemaOf<readonly T[]> {
    return { json: { type: 'array', ...described(description), items: json } }
  },

  either<T extends readonly unknown[]>(...of: { readonly [At in keyof T]: SchemaOf<T[At]> }): SchemaOf<T[number]> {
    return { json: { anyOf: of.map(({ json }) => json) } }
  },

  map<T>({ json }: SchemaOf<T>, description: string): SchemaOf<Readonly<Record<string, T>>> {
    return { json: { type: 'object', description, additionalProperties: json } }
  },

  /** A reference to a component that another reference, or the list of request schemas, defines. */
  posted<T>(name: string): SchemaOf<T> {
    return { json: reference(name) }
  },

  optional<T>(schema: SchemaOf<T>): Optional<T> {
    return { optional: schema }
  },

  /** A schema that the document has once, under its name: its `json` is a reference that has the definition with it. */
  component<T>(name: string, { json }: SchemaOf<T>): SchemaOf<T> {
    return { json: Object.assign(reference(name), { [DEFINED]: json }) }
  },

  object<T extends object>(name: string, description: string | undefined, fields: FieldsOf<T>): SchemaOf<T> {
    const entries = Object.entries(fields as unknown as Readonly<Record<string, SchemaOf<unknown> | Optional<unknown>>>)
    const required = entries.filter(([, field]) => !('optional' in field)).map(([name]) => name)
    const properties = entries.map(([name, field]) => [name, 'optional' in field ? field.optional.json : field.json])
    const json = {
      type: 'object',
      ...described(description),
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    }
    return s.component<T>(name, { json })
  },
}

interface Listed<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** The schema of a page of a list. */
export function pageOf<T>(name: string, item: SchemaOf<T>): SchemaOf<Listed<T>> {
  return s.object<Listed<T>>(name, 'A page of a list.', {
    items: s.list(item),
    next: s.optional(s.text('The `cursor` of the next page. Absent on the last one.')),
  })
}

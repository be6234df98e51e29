import { type JsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { dispatchSchema } from '../core/dispatch/dispatch-schema.ts'
import { sessionRunSchema } from '../core/runs/session-run-schema.ts'
import type { JsonObject } from '../model/json.ts'
import { reference } from './model-schema.ts'
import type { OpenApiSchema } from './open-api-document.ts'
import { fieldNotes, type RequestComponent } from './request-notes.ts'

/**
 * The schemas of requests by name: those that the handlers read bodies with, and what these leave to functions.
 *
 * @param eventTypes The only events that there are.
 */
export function requestSchemas(eventTypes?: readonly string[]): Readonly<Record<string, OpenApiSchema>> {
  const converted = toJsonSchemaDefs(parts(), {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ['to_lower_case'],
    overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'custom' ? { type: 'object' } : undefined),
    overrideRef: ({ referenceId }) => reference(referenceId).$ref,
  })
  const notes = fieldNotes(eventTypes)
  const names = Object.keys(converted) as RequestComponent[]
  return Object.fromEntries(names.map((name) => [name, noted(converted[name] ?? {}, notes[name])]))
}

/** The schemas that get names of their own: the whole bodies, and what several have in common. */
function parts(): Record<RequestComponent, v.GenericSchema> {
  const run = fieldOf(sessionRunSchema, 'run')
  return {
    DispatchRequest: dispatchSchema,
    SessionRunRequest: sessionRunSchema,
    RunPost: run,
    RunPostTimings: fieldOf(run, 'timings'),
    RunPostModelUsage: fieldOf(run, 'usageByModel'),
    RunPostCost: fieldOf(run, 'cost'),
    RunCounts: fieldOf(run, 'counts'),
    RunAgent: fieldOf(run, 'agent'),
    RunError: fieldOf(run, 'error'),
    TraceContext: fieldOf(run, 'trace'),
  }
}

/** What valibot's schemas are made of. */
interface Inspectable {
  readonly entries?: Readonly<Record<string, v.GenericSchema & Inspectable>>
  readonly wrapped?: v.GenericSchema & Inspectable
  readonly item?: v.GenericSchema & Inspectable
}

/** The schema of a field, or of the items of a list, without what makes it optional. */
function fieldOf(schema: v.GenericSchema & Inspectable, name: string): v.GenericSchema {
  const field = schema.entries?.[name]
  const bare = field?.wrapped ?? field
  if (!bare) throw new TypeError(`the schema has no field ${name}`)
  return bare.item ?? bare
}

interface Noted {
  readonly about: JsonObject
  readonly fields?: object
}

/** A converted schema with what the notes say of it and of its fields. */
function noted({ properties, required, ...rest }: JsonSchema, { about, fields }: Noted): OpenApiSchema {
  const noteOf = new Map<string, JsonObject>(Object.entries(fields ?? {}))
  const described = Object.entries(properties ?? {}).map(([field, schema]) => [
    field,
    { ...(schema as JsonObject), ...noteOf.get(field) },
  ])
  return {
    ...(rest as JsonObject),
    ...about,
    ...(described.length > 0 && { properties: Object.fromEntries(described) }),
    ...(required && required.length > 0 && { required }),
  }
}

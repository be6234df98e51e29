import { isRecord, near } from '../../../../options/read-options.ts'
import type { FactPath } from '../../../../ports/fact-path.ts'
import type { StandardSchema } from '../event-definition.ts'
import { jsonSchemaReader } from './json-schema-names.ts'
import { findUnknownName, type ReadSchema } from './names-below.ts'
import { recipientNameFault } from './recipient-names.ts'
import { readValibot } from './valibot-names.ts'

/** Returns the fault of a path that reads a name which the facts cannot have. */
export type CheckPath = (path: FactPath) => string | undefined

/**
 * Checks paths below `recipient`, and below `data` and `events` by the schema's output. Reads the schema at the first of them; one that
 * does not tell its names, or throws, has no faults.
 */
export function namesCheck(schema: StandardSchema | undefined): CheckPath {
  let facts: FactNames | undefined
  const dataFault = (root: 'data' | 'events', steps: FactPath): string | undefined => {
    try {
      facts ??= schema ? factNames(schema) : OPEN
      return faultOf(root, steps, facts)
    } catch {
      facts = OPEN
      return undefined
    }
  }
  return ([root, ...steps]) => {
    if (root === 'recipient') return recipientNameFault(steps)
    return root === 'data' || root === 'events' ? dataFault(root, steps) : undefined
  }
}

function faultOf(root: 'data' | 'events', steps: FactPath, { data, events, read }: FactNames): string | undefined {
  const unknown = findUnknownName(steps, root === 'data' ? data : events, read)
  if (!unknown) return undefined
  const { index, name, known, isInList } = unknown
  const above = pathText([root, ...steps.slice(0, index)])
  const hint = near(name, known) || (isInList ? `; ${above} is a list` : '')
  return `reads ${pathText([above, name])}, which the schema of data does not have${hint}`
}

function pathText(path: FactPath): string {
  return path.map((step, index) => (typeof step === 'number' ? '[]' : index === 0 ? step : `.${step}`)).join('')
}

interface FactNames {
  /** Schemas of the facts, for `read`. */
  readonly data: unknown
  readonly events: unknown
  readonly read: ReadSchema
}

const OPEN: FactNames = { data: undefined, events: undefined, read: () => undefined }

function factNames(schema: StandardSchema): FactNames {
  const standard = schema['~standard']
  if (standard.vendor === 'valibot') return withEvents(schema, readValibot)
  const converter: unknown = Reflect.get(standard, 'jsonSchema')
  if (!isRecord(converter) || typeof converter.output !== 'function') return OPEN
  // The option is zod's: a date or a transform is open, instead of an error for the whole schema.
  const libraryOptions = { unrepresentable: 'any' }
  const document: unknown = converter.output({ target: 'draft-2020-12', libraryOptions })
  if (!isRecord(document)) return OPEN
  return withEvents(document, jsonSchemaReader(document, standard.vendor === 'arktype' && !hasKeyPatterns(schema)))
}

function withEvents(data: unknown, read: ReadSchema): FactNames {
  const events = { elements: [data] }
  return { data, events, read: (schema) => (schema === events ? events : read(schema)) }
}

/**
 * arktype keeps undeclared names by default, and does not tell whether that was asked for. They are taken as unknown, because the type
 * does not name them. `'[string]': 'unknown'` allows them.
 *
 * @returns Whether the type has keys by a rule, which JSON Schema may lack, such as `[string > 2]`.
 */
function hasKeyPatterns(schema: StandardSchema): boolean {
  const text = JSON.stringify(Reflect.get(schema, 'json'))
  return text.includes('"signature":{')
}

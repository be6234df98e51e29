import type { Content } from '../../../model/dispatch.ts'
import { type JsonValue, toJson } from '../../../model/json.ts'
import type { CatalogChannel, EventFacts, FieldRendering } from '../../../ports/event-catalog.ts'
import type { EventFault } from '../event-faults.ts'

/** Why a message cannot be made: one of its fields, or the data as a whole. */
export interface ContentFault extends EventFault {
  /** The path that a template reads, and that is not there. */
  readonly missing?: string
}

/**
 * What a channel's message says: every field rendered, or, when there are none, the event's data as it is (a digest's as
 * `{ events }`). `undefined` when that cannot be made; every fault is passed to `onFault`.
 */
export async function renderFields(
  fields: CatalogChannel['fields'],
  facts: EventFacts,
  onFault: (fault: ContentFault) => void,
  of: 'event' | 'digest',
): Promise<Content | undefined> {
  const content: Record<string, JsonValue> = {}
  let complete = true
  let empty = true
  for (const field in fields) {
    empty = false
    const given = fields[field]?.(facts)
    // Most are there at once.
    const rendering = given && 'then' in given ? await given : given
    if (rendering?.outcome === 'rendered') content[field] = rendering.value
    else {
      complete = false
      if (rendering) onFault(fieldFault(field, rendering))
    }
  }
  if (!complete) return undefined
  return empty ? asContent(of === 'event' ? facts.data : { events: facts.events }, onFault) : content
}

function fieldFault(field: string, rendering: Exclude<FieldRendering, { outcome: 'rendered' }>): ContentFault {
  const at = { operation: 'template', field } as const
  if (rendering.outcome === 'missing') return { ...at, detail: `reads ${rendering.path}`, missing: rendering.path }
  const { detail, cause, isLibrary } = rendering
  return { ...at, detail, cause, isLibrary }
}

function asContent(data: unknown, onFault: (fault: ContentFault) => void): Content | undefined {
  const fault = { operation: 'data_schema', detail: 'the data is no JSON' } as const
  try {
    const copy = toJson(data)
    if (copy !== undefined) return { data: copy }
    onFault(fault)
  } catch (cause) {
    onFault({ ...fault, cause })
  }
  return undefined
}

import type { Content } from '../../model/dispatch.ts'
import type { JsonValue } from '../../model/json.ts'
import type { CatalogChannel, EventFacts, FieldRendering } from '../../ports/event-catalog.ts'
import { toJson } from '../to-json.ts'

/** Why a field cannot be rendered. */
export type FieldFault = Exclude<FieldRendering, { readonly outcome: 'rendered' }>

/**
 * What a channel's message says: every field rendered, or, when there are none, the event's data as it is (a digest's as
 * `{ events }`). `undefined` when a field cannot be rendered; every such fault is passed to `onFault`.
 */
export async function renderFields(
  fields: CatalogChannel['fields'],
  facts: EventFacts,
  onFault: (fault: FieldFault, field: string) => void,
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
      if (rendering) onFault(rendering, field)
    }
  }
  if (!complete) return undefined
  return empty ? asContent(of === 'event' ? facts.data : { events: facts.events }) : content
}

function asContent(data: unknown): Content | undefined {
  try {
    const copy = toJson(data)
    return copy === undefined ? undefined : { data: copy }
  } catch {
    return undefined
  }
}

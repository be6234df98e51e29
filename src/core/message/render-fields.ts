import { type Awaitable, isPromise } from '../../model/awaitable.ts'
import type { Content } from '../../model/dispatch.ts'
import { type JsonValue, toJson } from '../../model/json.ts'
import { withTimeout } from '../../model/time-out.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CatalogChannel, EventFacts, FieldRendering } from '../../ports/event-catalog.ts'
import type { EventFault } from '../answers/fault.ts'

export type RenderClock = Pick<Clock, 'now' | 'after'>

/** Limits of asynchronous fields. */
export interface RenderTime {
  readonly clock: RenderClock
  /** Epoch milliseconds at which the first field of the dispatch began. */
  readonly since: number
}

export interface ContentFault extends EventFault {
  /** The field gave no value in time. */
  readonly isLate?: true
}

/** Content of one channel, and its faults in the order of the fields. */
export interface RenderedFields {
  /** Absent after any fault. */
  readonly content?: Content
  readonly faults: readonly ContentFault[]
}

type Ended = FieldRendering | { readonly outcome: 'late'; readonly detail: string }

/**
 * Renders all fields of a channel at once; without fields, the event's data (a digest: `{ events }`). Returns a promise, which never
 * rejects, only if a field is asynchronous.
 */
export function renderFields(
  fields: CatalogChannel['fields'],
  facts: EventFacts,
  of: 'event' | 'digest',
  time: RenderTime,
): Awaitable<RenderedFields> {
  const names = Object.keys(fields)
  if (names.length === 0) return asContent(of === 'event' ? facts.data : { events: facts.events })
  const begun: readonly Awaitable<Ended>[] = Object.values(fields).map((render) => {
    const given = render(facts)
    return isPromise(given) ? inTime(given, time) : given
  })
  return begun.every(hasEnded) ? collect(names, begun) : Promise.all(begun).then((ended) => collect(names, ended))
}

function hasEnded(rendering: Awaitable<Ended>): rendering is Ended {
  return !isPromise(rendering)
}

const FIELD_MS = 5_000
/** All fields begin at once: this limit is the shorter one only after synchronous functions that took over 5 seconds. */
const DISPATCH_MS = 10_000

/** Never rejects, and drops a late result. */
async function inTime(rendering: Promise<FieldRendering>, { clock, since }: RenderTime): Promise<Ended> {
  const leftMs = Math.max(0, since + DISPATCH_MS - clock.now())
  const limit = leftMs < FIELD_MS ? 'the 10 seconds of its dispatch' : '5 seconds'
  const detail = `the template function gave no value within ${limit}`
  const fallback = (): Ended => ({ outcome: 'late', detail })
  try {
    return await withTimeout(rendering, { ms: Math.min(FIELD_MS, leftMs), clock, fallback })
  } catch (cause) {
    return { outcome: 'error', detail: 'the template engine threw', cause, isLibrary: true }
  }
}

function collect(names: readonly string[], ended: readonly Ended[]): RenderedFields {
  const content: Record<string, JsonValue> = {}
  const faults: ContentFault[] = []
  for (const [index, rendering] of ended.entries()) {
    const field = names[index] ?? ''
    if (rendering.outcome === 'rendered') content[field] = rendering.value
    else faults.push(faultOf(field, rendering))
  }
  return faults.length > 0 ? { faults } : { content, faults }
}

const NO_VALUE = 'has no value: pass one, or give it a default in the template'

function faultOf(field: string, rendering: Exclude<Ended, { outcome: 'rendered' }>): ContentFault {
  const at = { operation: 'template', field } as const
  switch (rendering.outcome) {
    case 'missing':
      return { ...at, detail: `reads ${rendering.path}, which ${NO_VALUE}`, missing: rendering.path }
    case 'late':
      return {
        ...at,
        detail: rendering.detail,
        cause: new DOMException(rendering.detail, 'TimeoutError'),
        isLate: true,
      }
    case 'error': {
      const { detail, cause, isLibrary } = rendering
      return { ...at, detail, cause, isLibrary }
    }
  }
}

function asContent(data: unknown): RenderedFields {
  const fault = { operation: 'data_schema', detail: 'the data is no JSON' } as const
  try {
    const copy = toJson(data)
    return copy === undefined ? { faults: [fault] } : { content: { data: copy }, faults: [] }
  } catch (cause) {
    return { faults: [{ ...fault, cause }] }
  }
}

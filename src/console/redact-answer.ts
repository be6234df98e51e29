import { yieldToEventLoop } from '../core/yield-to-event-loop.ts'
import { pointerTo } from '../model/json-pointer.ts'
import type { Clock } from '../ports/clock.ts'
import type { ConsoleOptions } from './console-options.ts'

type Redact = NonNullable<ConsoleOptions['redact']>

/** Time after which other work of the process gets a turn. */
const SLICE_MS = 10

/**
 * Replaces each text, number and flag of an answer. A slow redactor does not block the event loop.
 *
 * @throws What the redactor throws, and a `TypeError` for a result that it may not give.
 */
export async function redactAnswer(answer: unknown, redact: Redact, clock: Clock): Promise<unknown> {
  let began = clock.now()

  async function redacted(value: unknown, pointer: string, field: string): Promise<unknown> {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      if (clock.now() - began >= SLICE_MS) {
        await yieldToEventLoop(clock)
        began = clock.now()
      }
      return checked(redact(value, { field, pointer }), value)
    }
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const [at, item] of value.entries()) items.push(await redacted(item, pointerTo(pointer, at), field))
      return items
    }
    const members: [string, unknown][] = []
    for (const [name, member] of Object.entries(value))
      members.push([name, await redacted(member, pointerTo(pointer, name), fieldOf(name, value))])
    return Object.fromEntries(members)
  }

  const { next, ...shown } = Object(answer)
  const isPage = next !== undefined && Array.isArray(shown.items)
  if (!isPage) return redacted(answer, '', '')
  // A replaced cursor would end the list.
  return { ...Object(await redacted(shown, '', '')), next }
}

/** Field of a member. The values of a condition's trace belong to the field of the event's data that the condition read. */
function fieldOf(name: string, { path }: { readonly path?: unknown }): string {
  const isTraced = (name === 'actual' || name === 'expected') && typeof path === 'string'
  return isTraced ? path.slice(path.lastIndexOf('.') + 1) : name
}

/** Longest text that replaces a shorter value. */
const MAX_TEXT = 1_000

/** Also refuses a promise: as JSON it would be `{}`, and the page would break without an error. */
function checked(shown: unknown, value: string | number | boolean): unknown {
  if (shown === null || typeof shown === 'boolean' || Number.isFinite(shown)) return shown
  if (typeof shown !== 'string') throw new TypeError('redact() gave neither a text, a number, a flag nor null')
  if (shown.length > Math.max(MAX_TEXT, String(value).length))
    throw new TypeError(`redact() gave a text that is longer than the value and than ${MAX_TEXT} characters`)
  return shown
}

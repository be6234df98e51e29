import { pointerTo } from '../core/json/json-pointer.ts'
import type { ConsoleOptions } from './console-options.ts'

/** Replaces each text, number and flag of an answer. Throws what the redactor throws. */
export function redactAnswer(
  value: unknown,
  redact: NonNullable<ConsoleOptions['redact']>,
  pointer = '',
  field = '',
): unknown {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return redact(value, { field, pointer })
  if (Array.isArray(value)) return value.map((item, at) => redactAnswer(item, redact, pointerTo(pointer, at), field))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, redactAnswer(member, redact, pointerTo(pointer, name), name)]),
  )
}

import * as v from 'valibot'
import type { DispatchRequest } from '../../model/dispatch.ts'
import type { JsonObject } from '../../model/json.ts'

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const text = (max: number) =>
  v.pipe(
    v.string(),
    v.minLength(1, 'expected at least 1 character'),
    v.maxLength(max, `expected at most ${max} characters`),
  )

/** The body of `POST /api/outbound/dispatch`. */
export const dispatchSchema: v.GenericSchema<unknown, DispatchRequest> = v.object({
  eventType: v.pipe(text(256), v.regex(/^[A-Za-z0-9._-]+$/, 'expected only A-Z a-z 0-9 . _ -')),
  recipient: text(2048),
  eventData: v.exactOptional(v.custom<JsonObject>(isObject)),
  channel: v.exactOptional(text(64)),
  sessionId: v.exactOptional(v.pipe(text(200), v.regex(/^[\x21-\x7E]+$/, 'expected only visible ASCII'))),
})

import * as v from 'valibot'
import type { DispatchRequest } from '../../model/dispatch.ts'
import type { JsonObject } from '../../model/json.ts'
import { SESSION_ID, SESSION_ID_EXPECTED } from '../../model/principal.ts'
import { isJsonObject, objectOf, optional } from '../json/schema-readers.ts'

const text = (max: number) => {
  const tooLong = `expected at most ${max} characters`
  return v.pipe(v.string(), v.minLength(1, 'expected at least 1 character'), v.maxLength(max, tooLong))
}

/** Body of `POST /api/outbound/dispatch`. `null` in an optional field means that the field is absent. */
export const dispatchSchema: v.GenericSchema<unknown, DispatchRequest> = objectOf({
  eventType: v.pipe(text(256), v.regex(/^[A-Za-z0-9._-]+$/, 'expected only A-Z a-z 0-9 . _ -')),
  recipient: text(2048),
  eventData: optional(v.custom<JsonObject>(isJsonObject, 'expected object')),
  channel: optional(text(64)),
  sessionId: optional(v.pipe(text(200), v.regex(SESSION_ID, SESSION_ID_EXPECTED))),
})

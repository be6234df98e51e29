import * as v from 'valibot'
import type { Refused } from '../../core/answers/result.ts'
import { isJsonObject, listOf, objectOf, optional } from '../../core/json/schema-readers.ts'
import { validateKnown } from '../../core/validate.ts'
import type { AnswerRequest, ApprovalOf, ApprovalRequest, ConsumeRequest } from '../../model/approval-calls.ts'
import type { JsonObject } from '../../model/json.ts'
import { RUN_ID, RUN_ID_EXPECTED, SESSION_ID, SESSION_ID_EXPECTED } from '../../model/principal.ts'

const text = (max: number) => {
  const tooLong = `expected at most ${max} characters`
  return v.pipe(v.string(), v.minLength(1, 'expected at least 1 character'), v.maxLength(max, tooLong))
}

const object = v.custom<JsonObject>(isJsonObject, 'expected object')
const sessionId = v.pipe(text(200), v.regex(SESSION_ID, SESSION_ID_EXPECTED))
const runId = v.pipe(text(200), v.regex(RUN_ID, RUN_ID_EXPECTED))
const action = optional(objectOf({ name: text(200), args: object }))

const REQUEST: v.GenericSchema<unknown, ApprovalRequest> = objectOf({
  sessionId,
  runId,
  approvalId: optional(runId),
  message: text(4_000),
  action,
  schema: optional(object),
  choices: optional(listOf(text(200), 50)),
  eventType: text(256),
  recipients: optional(listOf(text(2_048), 50)),
  expiresInMs: optional(v.pipe(v.number(), v.integer('expected a whole number'))),
})

const ANSWER: v.GenericSchema<unknown, AnswerRequest> = objectOf({
  sessionId,
  user: text(2_048),
  answer: v.picklist(['accept', 'decline']),
  content: optional(object),
  comment: optional(text(1_000)),
  digest: optional(text(64)),
})

const CONSUME: v.GenericSchema<unknown, ConsumeRequest> = objectOf({
  sessionId,
  action,
  eventType: optional(text(256)),
  useId: text(200),
})

const PLAIN: v.GenericSchema<unknown, ApprovalOf> = objectOf({ sessionId })

export const readRequest = (body: unknown): ApprovalRequest | Refused => validateKnown(REQUEST, body)
export const readAnswer = (body: unknown): AnswerRequest | Refused => validateKnown(ANSWER, body)
export const readConsume = (body: unknown): ConsumeRequest | Refused => validateKnown(CONSUME, body)
export const readPlain = (body: unknown): ApprovalOf | Refused => validateKnown(PLAIN, body)

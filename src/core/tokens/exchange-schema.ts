import * as v from 'valibot'
import { MOST_APPROVALS, MOST_DISPATCHES, MOST_RUN_EVENTS, RUN_ID, RUN_ID_EXPECTED } from '../../model/principal.ts'
import type { TokenExchange, TokenGrants } from '../../model/token-exchange.ts'
import { listOf, objectOf, optional } from '../json/schema-readers.ts'

/** Bounds of `expiresInMs`. No session token lives longer than a day. */
const LEAST_MS = 1_000
const MOST_MS = 86_400_000

const MAX_NAMES = 1_000

const text = (max: number) => {
  const tooLong = `expected at most ${max} characters`
  return v.pipe(v.string(), v.minLength(1, 'expected at least 1 character'), v.maxLength(max, tooLong))
}

const whole = (least: number, greatest: number) => {
  const detail = `expected a whole number from ${least} to ${greatest}`
  return v.pipe(v.number(), v.integer(detail), v.minValue(least, detail), v.maxValue(greatest, detail))
}

const names = listOf(text(2_048), MAX_NAMES)

export const grantsSchema: v.GenericSchema<unknown, TokenGrants> = objectOf({
  dispatch: optional(
    objectOf({
      events: names,
      channels: names,
      recipients: names,
      maxDispatches: optional(whole(1, MOST_DISPATCHES)),
    }),
  ),
  approval: optional(objectOf({ events: names, maxApprovals: optional(whole(1, MOST_APPROVALS)) })),
  runEvents: optional(whole(0, MOST_RUN_EVENTS)),
})

/** Body of `POST /api/agents/session/token`. `null` in an optional field means that the field is absent. */
export const exchangeSchema: v.GenericSchema<unknown, TokenExchange> = objectOf({
  grants: grantsSchema,
  expiresInMs: optional(whole(LEAST_MS, MOST_MS)),
  runId: optional(v.pipe(text(200), v.regex(RUN_ID, RUN_ID_EXPECTED))),
})

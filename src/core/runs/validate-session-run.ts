import type { Issue } from '../../errors.ts'
import type { Warning } from '../../model/dispatch.ts'
import { isStorable } from '../../model/json.ts'
import { isRefused, type Refused } from '../answers/result.ts'
import { checkJsonSafety } from '../json/safety-check.ts'
import { membersOf, readQuickly } from '../json/schema-readers.ts'
import { fitSchema, invalid, type Valid } from '../validate.ts'
import { instantsAhead } from './merge/instants.ts'
import { type CheckedSessionRun, sessionRunSchema } from './session-run-schema.ts'

/**
 * Checks a body: that it is harmless, that it fits its schema, and what no schema can say: that no instant lies ahead of the
 * clock, and that the run does not name itself. All that is wrong is told at once.
 */
export function validateSessionRun(body: unknown, now: number): Valid<CheckedSessionRun> | Refused {
  const quick = readQuickly(sessionRunSchema, body)
  const ahead = instantsAhead(quick ? quick.value : body, now)
  const circular = namesItself(body)
  // What the schema reads without a fault is harmless too.
  if (quick && ahead.length === 0 && circular.length === 0) return { value: quick.value, warnings: NO_WARNINGS }
  const dangers = checkJsonSafety(body)
  // Of a body that holds too much no more is looked at: that would take as long again.
  if (dangers.some(({ code }) => code === 'too_many')) return invalid(dangers)
  const fitting = fitSchema(sessionRunSchema, body)
  if (dangers.length === 0 && ahead.length === 0 && circular.length === 0) return fitting
  const misfits = isRefused(fitting) ? (fitting.errors ?? NONE) : NONE
  return invalid([misfits, ahead, circular].reduce(beside, dangers))
}

const NO_WARNINGS: readonly Warning[] = Object.freeze([])
const NONE: readonly Issue[] = []

/** Where a run gives its own id for that of another. */
function namesItself(body: unknown): readonly Issue[] {
  const run = membersOf(membersOf(body)?.run)
  if (run?.runId === undefined || (run.parentRunId !== run.runId && run.resumedFromRunId !== run.runId)) return NONE
  const named = ['parentRunId', 'resumedFromRunId'].filter((field) => run[field] === run.runId)
  const detail = 'expected the id of another run'
  return named.map((field) => ({ pointer: `/run/${field}`, code: 'not_allowed', detail }))
}

/** Of one place one thing is told, and nothing below a key that no answer can carry. */
function beside(reported: readonly Issue[], more: readonly Issue[]): readonly Issue[] {
  const isNew = ({ pointer }: Issue): boolean =>
    isStorable(pointer) && !reported.some((issue) => issue.pointer === pointer)
  return [...reported, ...more.filter(isNew)]
}

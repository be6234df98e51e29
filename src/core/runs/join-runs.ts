import type { RunState, WithStatus } from '../../model/run.ts'
import type { DraftState } from './lift-run.ts'
import { joinRecords, joinSorted, laterFinal, laterStatus, laterWrite } from './registers.ts'

/**
 * What a run holds at most, however many posts bring more: no caller can make a record grow without end. The first in their
 * order are kept, which does not depend on the order of posts.
 */
const MAX_COUNTS = 128
const MAX_METADATA = 128
const MAX_TAGS = 128

/** The ids that two states give differently: they are not states of one run. */
export function conflictingIds(a: RunState, b: RunState): readonly string[] {
  const fields: string[] = []
  if (a.runId !== b.runId) fields.push('runId')
  if (a.sessionId !== b.sessionId) fields.push('sessionId')
  if (differ(a.parentRunId, b.parentRunId)) fields.push('parentRunId')
  if (differ(a.resumedFromRunId, b.resumedFromRunId)) fields.push('resumedFromRunId')
  if (differ(a.attempt, b.attempt)) fields.push('attempt')
  return fields
}

function differ(a: string | number | undefined, b: string | number | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b
}

/**
 * The least state that knows what two states of one run know: commutative, associative and idempotent for states whose ids
 * do not conflict. The first itself, when the second tells nothing new.
 */
export function joinRuns(a: RunState, b: RunState): RunState {
  const status = a.status && b.status ? laterStatus(a.status, b.status) : (a.status ?? b.status)
  const seq = a.seq >= b.seq ? a.seq : b.seq
  const earliest = joinRecords(a.earliest, b.earliest, (mine, theirs) => (theirs < mine ? theirs : mine))
  const counts = joinRecords(a.counts, b.counts, (mine, theirs) => (theirs > mine ? theirs : mine), MAX_COUNTS)
  // Every key keeps a value of its own kind, which the record of all kinds does not show.
  const final = joinRecords<WithStatus>(a.final, b.final, laterFinal) as RunState['final']
  const latest = joinRecords(a.latest, b.latest, laterWrite)
  const metadata = joinRecords(a.metadata, b.metadata, laterWrite, MAX_METADATA)
  const tags = joinSorted(a.tags, b.tags, MAX_TAGS)
  const parentRunId = a.parentRunId ?? b.parentRunId
  const resumedFromRunId = a.resumedFromRunId ?? b.resumedFromRunId
  const attempt = a.attempt ?? b.attempt
  if (
    status === a.status &&
    seq === a.seq &&
    earliest === a.earliest &&
    counts === a.counts &&
    final === a.final &&
    latest === a.latest &&
    metadata === a.metadata &&
    tags === a.tags &&
    parentRunId === a.parentRunId &&
    resumedFromRunId === a.resumedFromRunId &&
    attempt === a.attempt
  )
    return a
  const { runId, sessionId } = a
  const joined: DraftState = { runId, sessionId, seq, earliest, counts, final, latest, metadata, tags }
  if (status !== undefined) joined.status = status
  if (parentRunId !== undefined) joined.parentRunId = parentRunId
  if (resumedFromRunId !== undefined) joined.resumedFromRunId = resumedFromRunId
  if (attempt !== undefined) joined.attempt = attempt
  return joined
}

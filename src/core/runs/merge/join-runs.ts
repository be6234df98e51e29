import type { JsonValue } from '../../../model/json.ts'
import type { RunReport, StatusReport } from '../../../model/run.ts'
import { ONCE } from '../../../model/shown-run.ts'
import { isEmpty } from '../../../model/totals.ts'
import { USAGE_COUNTS } from '../../../usage/counts.ts'
import {
  compareReported,
  cutJoined,
  isGreater,
  isSame,
  joinRecords,
  joinSorted,
  laterWrite,
  METADATA,
  reportedWith,
  seqOf,
} from './last-writer-wins.ts'

/** Lists the fields that are set once and differ in two reports of one source. */
export function conflictingFields(a: RunReport, b: RunReport): readonly string[] {
  return ONCE.filter((field) => differ(a[field], b[field]))
}

function differ(a: string | number | undefined, b: string | number | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b
}

/** Join of two reports of one source: commutative, associative, idempotent if no field conflicts. Returns `a` itself when `b` adds nothing. */
export function joinReports(a: RunReport, b: RunReport): RunReport {
  const joined: { -readonly [Part in keyof RunReport]: RunReport[Part] } = {
    seq: a.seq >= b.seq ? a.seq : b.seq,
    earliest: joinRecords(a.earliest, b.earliest, (mine, theirs) => (theirs < mine ? theirs : mine)),
    counts: cutJoined(
      joinRecords(a.counts, b.counts, (mine, theirs) => (theirs > mine ? theirs : mine)),
      a.counts,
    ),
    final: joinFinal(a, b),
    latest: joinRecords(a.latest, b.latest, (mine, theirs, path) =>
      laterWrite(mine, seqOf(a, path), theirs, seqOf(b, path)),
    ),
    metadata: cutJoined(
      joinRecords(a.metadata, b.metadata, (mine, theirs, key) =>
        laterWrite(mine, seqOf(a, METADATA + key), theirs, seqOf(b, METADATA + key)),
      ),
      a.metadata,
    ),
    tags: joinSorted(a.tags, b.tags),
  }
  const clearCounts = joinClearCounts(a, b, joined.counts)
  if (clearCounts !== undefined) joined.clearCounts = clearCounts
  const status = laterStatus(a, b)
  if (status !== undefined) joined.status = status.status
  const seqs = joinSeqs(a, b, joined, status)
  if (seqs !== undefined) joined.seqs = seqs
  const finalWith = joinFinalWith(a, b, joined, status)
  if (finalWith !== undefined) joined.finalWith = finalWith
  const parentRunId = a.parentRunId ?? b.parentRunId
  const resumedFromRunId = a.resumedFromRunId ?? b.resumedFromRunId
  const attempt = a.attempt ?? b.attempt
  if (parentRunId !== undefined) joined.parentRunId = parentRunId
  if (resumedFromRunId !== undefined) joined.resumedFromRunId = resumedFromRunId
  if (attempt !== undefined) joined.attempt = attempt
  const by = joinPrincipals(a.by, b.by)
  if (by !== undefined) joined.by = by
  return addsNothing(joined, a) ? a : joined
}

/** Counts of posts in doubt stay, so a later post clears a doubt only if its own counts are as great: they would be priced otherwise. */
function joinClearCounts(a: RunReport, b: RunReport, counts: RunReport['counts']): RunReport['clearCounts'] {
  if (a.clearCounts === undefined && b.clearCounts === undefined) return undefined
  const [mine, theirs] = [a.clearCounts ?? a.counts, b.clearCounts ?? b.counts]
  const joined: Record<string, number> = {}
  for (const name of USAGE_COUNTS) {
    const count = Math.max(mine[name] ?? -1, theirs[name] ?? -1)
    if (count >= 0 && counts[name] !== undefined) joined[name] = count
  }
  if (USAGE_COUNTS.every((name) => joined[name] === counts[name])) return undefined
  return isSame(joined, a.clearCounts) ? a.clearCounts : joined
}

/** Principals kept in `by`. */
const MAX_PRINCIPALS = 16

function joinPrincipals(a: RunReport['by'], b: RunReport['by']): RunReport['by'] {
  if (a === undefined || b === undefined) return a ?? b
  return joinSorted(a, b, MAX_PRINCIPALS)
}

function laterStatus(a: RunReport, b: RunReport): StatusReport | undefined {
  const mine = statusReported(a)
  const theirs = statusReported(b)
  if (mine === undefined || theirs === undefined) return mine ?? theirs
  return compareReported(theirs, mine) > 0 ? theirs : mine
}

function statusReported(report: RunReport): StatusReport | undefined {
  const { status } = report
  return status && { status, seq: seqOf(report, 'status') }
}

/** For each field, keeps the value with the later status; with equal statuses, the one with the greater canonical JSON. */
function joinFinal(a: RunReport, b: RunReport): RunReport['final'] {
  return joinRecords<JsonValue>(a.final, b.final, (mine, theirs, field) => {
    const order = compareReported(reportedWith(b, field), reportedWith(a, field))
    return order > 0 || (order === 0 && isGreater(theirs, mine)) ? theirs : mine
  })
}

/** For each path, keeps the later `seq`, where it differs from the `seq` of the run. */
function joinSeqs(
  a: RunReport,
  b: RunReport,
  { seq, latest, metadata }: RunReport,
  status: StatusReport | undefined,
): RunReport['seqs'] {
  if (a.seq === b.seq && a.seqs === undefined && b.seqs === undefined) return undefined
  const seqs: Record<string, number> = {}
  if (status !== undefined && status.seq !== seq) seqs.status = status.seq
  for (const path in latest)
    noteSeq(seqs, path, seq, reported(a, a.latest, path, path), reported(b, b.latest, path, path))
  for (const key in metadata) {
    const path = METADATA + key
    noteSeq(seqs, path, seq, reported(a, a.metadata, key, path), reported(b, b.metadata, key, path))
  }
  return isEmpty(seqs) ? undefined : seqs
}

const NEVER = Number.NEGATIVE_INFINITY

function reported(report: RunReport, record: object, key: string, path: string): number {
  return Object.hasOwn(record, key) ? seqOf(report, path) : NEVER
}

function noteSeq(seqs: Record<string, number>, path: string, seq: number, mine: number, theirs: number): void {
  const later = mine > theirs ? mine : theirs
  if (later !== seq) seqs[path] = later
}

/** For each final field, keeps the later status that it was posted with, where it differs from the status of the run. */
function joinFinalWith(
  a: RunReport,
  b: RunReport,
  { final }: RunReport,
  status: StatusReport | undefined,
): RunReport['finalWith'] {
  const withs: Record<string, StatusReport> = {}
  for (const field in final) {
    const mine = Object.hasOwn(a.final, field) ? reportedWith(a, field) : undefined
    const theirs = Object.hasOwn(b.final, field) ? reportedWith(b, field) : undefined
    const later = mine && theirs ? (compareReported(theirs, mine) > 0 ? theirs : mine) : (mine ?? theirs)
    if (later && status && compareReported(later, status) !== 0) withs[field] = later
  }
  return isEmpty(withs) ? undefined : withs
}

function addsNothing(joined: RunReport, a: RunReport): boolean {
  return (
    joined.status === a.status &&
    joined.seq === a.seq &&
    joined.earliest === a.earliest &&
    joined.counts === a.counts &&
    joined.clearCounts === a.clearCounts &&
    joined.final === a.final &&
    joined.latest === a.latest &&
    joined.metadata === a.metadata &&
    joined.tags === a.tags &&
    joined.parentRunId === a.parentRunId &&
    joined.resumedFromRunId === a.resumedFromRunId &&
    joined.attempt === a.attempt &&
    joined.by === a.by &&
    isSame(joined.seqs, a.seqs) &&
    isSame(joined.finalWith as JsonValue | undefined, a.finalWith as JsonValue | undefined)
  )
}

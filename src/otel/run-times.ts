import type { EndedRun } from '../ports/run-exporter.ts'

/** From when to when a run went on, epoch milliseconds; `end` is never before `start`. */
export interface RunTimes {
  readonly start: number
  readonly end: number
}

/** The last millisecond that OTLP can write: it has unsigned 64 bits for nanoseconds. */
const LATEST = 18_446_744_073_709

/**
 * When a run began and ended: as it was told, else as far as that can be known from when it was queued, how long it took and
 * when it was heard of first and last.
 */
export function timesOf({ timings, createdAt, lastSeenAt }: EndedRun): RunTimes {
  const began = spanInstant(timings?.startedAt ?? timings?.queuedAt)
  const ended = spanInstant(timings?.endedAt)
  const took = timings?.durationMs
  const touched = spanInstant(lastSeenAt) ?? 0
  if (began !== undefined) return ordered(began, ended ?? (took === undefined ? touched : began + took))
  const end = ended ?? touched
  return ordered(took === undefined ? Math.min(spanInstant(createdAt) ?? 0, end) : end - took, end)
}

/** Epoch milliseconds of an RFC 3339 text; `undefined` when it is none. */
export function spanInstant(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

function ordered(start: number, end: number): RunTimes {
  const from = Math.min(Math.max(start, 0), LATEST)
  return { start: from, end: Math.min(Math.max(end, from), LATEST) }
}

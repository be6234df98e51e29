import { writeInstant } from '../../../model/instants.ts'
import { copyJson, type JsonValue } from '../../../model/json.ts'
import type { RunState, RunUpdate } from '../../../model/run.ts'
import type { IgnoredField } from '../../../model/run-post.ts'
import { isSame } from './last-writer-wins.ts'
import { hasEnded, isFinal } from './run-status.ts'
import { finalOf } from './selectors.ts'

type Reason = IgnoredField['reason']

const FINAL_FIELDS = {
  endedAt: 'timings.endedAt',
  durationMs: 'timings.durationMs',
  error: 'error',
  finishReason: 'finishReason',
}

/** What a post told that the run, which it was merged into, does not show. Shares nothing with the run. */
export function ignoredFields(posted: RunState, run: RunState): readonly IgnoredField[] {
  const ignored: IgnoredField[] = []
  const ignore = (field: string, reason: Reason, kept?: JsonValue | undefined): void => {
    ignored.push(kept === undefined ? { field, reason } : { field, reason, kept: copyJson(kept) })
  }
  if (posted.status && run.status && posted.status !== run.status) {
    const hadEnded = hasEnded(run.status) && !isFinal(posted.status)
    ignore('status', hadEnded ? 'terminal' : 'superseded', run.status)
  }
  for (const [key, reported] of Object.entries(posted.earliest)) {
    const kept = run.earliest[key as keyof RunState['earliest']]
    if (kept !== undefined && kept < reported) ignore(`timings.${key}`, 'later_time', writeInstant(kept))
  }
  for (const key of Object.keys(posted.counts)) {
    const kept = Object.hasOwn(run.counts, key) ? run.counts[key] : undefined
    if (kept === undefined) ignore(`counts.${key}`, 'over_limit')
    else if (kept !== posted.counts[key]) ignore(`counts.${key}`, 'lower_count', kept)
  }
  for (const key of Object.keys(posted.final) as (keyof RunState['final'])[]) {
    const kept = finalOf(run, key) as JsonValue | undefined
    if (isSame(kept, posted.final[key])) continue
    ignore(FINAL_FIELDS[key], 'superseded', key === 'endedAt' && typeof kept === 'number' ? writeInstant(kept) : kept)
  }
  superseded(posted.latest, run.latest, '', ignore)
  superseded(posted.metadata, run.metadata, 'metadata.', ignore)
  if (posted.tags.some((tag) => !run.tags.includes(tag))) ignore('tags', 'over_limit')
  return ignored
}

/** What an update told that belongs to a final status, when it has none. */
export function notFinalFields({ status, timings, error, finishReason }: RunUpdate): readonly IgnoredField[] {
  if (status !== undefined && hasEnded(status)) return NONE
  const fields = [
    timings?.endedAt !== undefined && FINAL_FIELDS.endedAt,
    timings?.durationMs !== undefined && FINAL_FIELDS.durationMs,
    error !== undefined && FINAL_FIELDS.error,
    finishReason !== undefined && FINAL_FIELDS.finishReason,
  ].filter((field) => field !== false)
  return fields.map((field) => ({ field, reason: 'not_final' }))
}

const NONE: readonly IgnoredField[] = []

function superseded(
  posted: Readonly<Record<string, JsonValue>>,
  kept: Readonly<Record<string, JsonValue>>,
  prefix: string,
  ignore: (field: string, reason: Reason, kept?: JsonValue) => void,
): void {
  for (const key of Object.keys(posted)) {
    const theirs = Object.hasOwn(kept, key) ? kept[key] : undefined
    if (theirs === undefined) ignore(`${prefix}${key}`, 'over_limit')
    else if (!isSame(posted[key], theirs)) ignore(`${prefix}${key}`, 'superseded', theirs)
  }
}

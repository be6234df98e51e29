import type { RunState, RunUpdate } from '../../../model/run.ts'
import type { IgnoredField } from '../../../model/run-post.ts'
import { ignoredFields, notFinalFields } from './ignored-fields.ts'
import { conflictingIds, joinRuns } from './join-runs.ts'
import { toRunState } from './to-run-state.ts'

/** What came of a merge. */
export type RunMerge =
  | {
      readonly outcome: 'merged'
      /** What the run is now. The state that was given itself, when nothing changed. */
      readonly state: RunState
      /** Whether this was the first that was told of the run. */
      readonly created: boolean
      /** Whether `state` is another than before: a post that was merged already changes nothing. */
      readonly changed: boolean
      /** What the update told and the run does not show. */
      readonly ignored: readonly IgnoredField[]
    }
  /** The update names another run: an id that is set once differs. Nothing was merged. */
  | { readonly outcome: 'conflict'; readonly fields: readonly string[] }

/**
 * Merges one post about a run into what is known of it, so that any order of any posts, each any number of times, comes to
 * the same run.
 *
 * Pure. The greatest status wins, by class (open, expired, final), then `seq`, then rank (`queued running waiting`,
 * `completed incomplete failed cancelled`): a final run never reopens. `queuedAt`, `startedAt` and `firstTokenAt` keep the
 * earliest, counts the greatest, tags all. `endedAt`, `durationMs`, `error` and `finishReason` follow the status that they
 * came with. Everything else is the last writer's by `seq`, then by canonical JSON; metadata key by key, where `null` deletes.
 * `sessionId`, `parentRunId`, `resumedFromRunId` and `attempt` are set once: another value is a conflict.
 *
 * @param current Absent for a run that nothing is known of yet. Neither argument is changed, and the state that is given
 * out shares nothing with the update.
 */
export function mergeRun(current: RunState | undefined, update: RunUpdate): RunMerge {
  const posted = toRunState(update)
  const notFinal = notFinalFields(update)
  if (current === undefined)
    return { outcome: 'merged', state: posted, created: true, changed: true, ignored: notFinal }
  const fields = conflictingIds(current, posted)
  if (fields.length > 0) return { outcome: 'conflict', fields }
  const state = joinRuns(current, posted)
  const ignored = ignoredFields(posted, state)
  return {
    outcome: 'merged',
    state,
    created: false,
    changed: state !== current,
    ignored: notFinal.length === 0 ? ignored : [...notFinal, ...ignored],
  }
}

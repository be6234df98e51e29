import { answerRefusal, refusing } from '../core/answers/fault.ts'
import { type HandlerResult, isRefused } from '../core/answers/result.ts'
import { idTaken, reportStored } from '../core/dispatch/accept-dispatch.ts'
import { previewDispatch } from '../core/dispatch/dispatch-view.ts'
import { type DispatchDeps, type PlannedDispatch, planToAccept } from '../core/dispatch/handle-dispatch.ts'
import { SallyportError } from '../errors.ts'
import type { DispatchAnswer } from '../model/dispatch.ts'
import type { PluginCommit, PluginCore, PreparedDispatch } from '../plugins/plugin.ts'
import type { CommitOutcome, RecordStore } from '../ports/record-store.ts'
import { HOST } from '../services/dispatch.ts'

/** Plans dispatches for plugins, and stores them with changes of records. */
export function pluginCommits(
  deps: DispatchDeps & { readonly store: RecordStore },
): Required<Pick<PluginCore, 'plan' | 'commit'>> {
  /** Planned dispatches that are not stored. */
  const prepared = new WeakMap<PreparedDispatch, PlannedDispatch>()

  /** Takes a dispatch, so that a second commit does not find it. */
  function take(one: PreparedDispatch, at: number): PlannedDispatch {
    const found = prepared.get(one)
    if (!found) throw notPrepared(at)
    prepared.delete(one)
    return found
  }

  async function commit({ accept = [], cancel, changes }: PluginCommit): Promise<CommitOutcome> {
    const taken = new Map<PreparedDispatch, PlannedDispatch>()
    let isStored = false
    try {
      for (const [at, one] of accept.entries()) taken.set(one, take(one, at))
      const planned = [...taken.values()]
      const made = await deps.store.commitUnit({ accept: planned.map(({ acceptance }) => acceptance), cancel, changes })
      if (made.outcome === 'refused' && made.refused.some(({ outcome }) => outcome === 'id_taken')) throw idTaken()
      if (made.outcome !== 'committed') return made
      isStored = true
      for (const [at, { plan, acceptance }] of planned.entries()) {
        const answer = made.answers[at]
        if (answer) reportStored(answer, plan, acceptance.dispatch, deps)
      }
      return made
    } finally {
      // A later commit may store it.
      if (!isStored) for (const [one, planned] of taken) prepared.set(one, planned)
    }
  }

  return {
    commit,
    async plan(tenant, body, { key, causedBy, by = HOST, delayMs, expiresInMs = deps.expiresInMs } = {}) {
      const options = { ...(key !== undefined && { key }), causedBy, delayMs, isPlanned: true }
      const own = { ...deps, ...(expiresInMs !== undefined && { expiresInMs }) }
      const planned = await refusing(() => planToAccept({ id: by, tenant }, { headers: {}, body }, own, options))
      if (isRefused(planned)) return answerRefusal(planned, deps)
      // Only a request with `dryRun` gets a preview.
      if (!('acceptance' in planned)) return planned as HandlerResult<DispatchAnswer>
      const { plan, origin, warnings, acceptance } = planned
      const made = { dispatchId: acceptance.dispatch.dispatchId, preview: previewDispatch(plan, origin, warnings) }
      prepared.set(made, planned)
      return made
    },
  }
}

/** `commit` of a host that only records runs, where nothing is planned. */
export async function commitRecords(
  { accept = [], cancel, changes }: PluginCommit,
  store: RecordStore,
): Promise<CommitOutcome> {
  if (accept.length > 0) throw notPrepared(0)
  return store.commitUnit({ cancel, changes })
}

function notPrepared(at: number): SallyportError {
  return new SallyportError('option_invalid', `accept[${at}] was not returned by plan(), or it is committed already`)
}

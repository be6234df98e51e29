import type { Totals } from '../../../model/totals.ts'
import type { RunKey, StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { boundedMap } from '../connection/bounded-map.ts'

/** What a merge wrote last in a session, and the versions that it has since. */
export interface LastMerge {
  readonly run: StoredRun
  readonly runVersion: number
  readonly session: StoredSession
  readonly sessionVersion: number
  /** The sum below the run. */
  readonly descendants: { readonly totals: Totals; readonly version: number } | undefined
}

/** What was merged last in some sessions: who goes on from there need not read it, as long as nobody else came between. */
export interface MergeCache {
  /** Takes it out: it is put back when it is known again what is stored. */
  take(key: RunKey): LastMerge | undefined
  forget(key: RunKey): void
  put(last: LastMerge): void
  /** Somebody else had come between. */
  wasWrong(): void
}

/** So many sessions are remembered. */
const REMEMBERED = 1_000
/** For so many merges nothing is believed, once something was wrong: other processes merge into the same sessions. */
const PAUSE = 50

export function mergeCache(): MergeCache {
  const sessions = boundedMap<LastMerge>(REMEMBERED)
  let pause = 0

  return {
    take({ tenant, sessionId, runId }) {
      const key = compoundKey(tenant, sessionId)
      const last = sessions.get(key)
      sessions.delete(key)
      if (pause > 0) pause--
      else if (last?.run.state.runId === runId) return last
      return undefined
    },
    forget: ({ tenant, sessionId }) => sessions.delete(compoundKey(tenant, sessionId)),
    put: (last) => sessions.put(compoundKey(last.session.tenant, last.session.sessionId), last),
    wasWrong() {
      pause = PAUSE
    },
  }
}

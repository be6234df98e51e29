import type { Principal } from '../../model/principal.ts'
import type { IgnoredField } from '../../model/run-post.ts'
import type { CheckedSessionRun } from './session-run-schema.ts'

/** A post whose user can be relied upon, and what it said of another. */
interface Named {
  readonly post: CheckedSessionRun
  readonly ignored: readonly IgnoredField[]
}

/**
 * Names the user of a session token as that of its runs; whom else it names is left out, so that nothing is spent in the name
 * of others. An application may name anybody.
 */
export function nameUser({ sessionId, userId }: Principal, post: CheckedSessionRun): Named {
  const { userId: reported, ...rest } = post.run
  if (sessionId === undefined || reported === userId) return { post, ignored: NOTHING }
  const run = userId === undefined ? rest : { ...rest, userId }
  return { post: { ...post, run }, ignored: reported === undefined ? NOTHING : [notGranted(userId)] }
}

function notGranted(kept: string | undefined): IgnoredField {
  return { field: 'userId', reason: 'not_granted', ...(kept !== undefined && { kept }) }
}

const NOTHING: readonly IgnoredField[] = Object.freeze([])

import type { Warning } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { RunState, RunUpdate } from '../../model/run.ts'
import type { IgnoredField, RunAnswer } from '../../model/run-post.ts'
import { answering } from '../answers/fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate, insufficientScope } from '../authenticate.ts'
import { unpricedEnd } from './merge/price-run.ts'
import { endsBeforeStart, viewRun } from './merge/selectors.ts'
import { mergeUpdate } from './merge-update.ts'
import { CLAMPED, normaliseRun } from './normalise-run.ts'
import type { RecordDeps, SessionRunDeps } from './record-deps.ts'
import { redactRun } from './redact-run.ts'
import { type CheckedSessionRun, validateSessionRun } from './session-run-schema.ts'

/** Authenticates a caller and records its post about a run. Never throws. */
export function handleSessionRun(request: HandlerRequest, deps: SessionRunDeps): Promise<HandlerResult<RunAnswer>> {
  return answering(deps, async () => {
    const principal = await authenticate(request.headers, 'session_run', deps.auth)
    return isRefused(principal) ? principal : recordRun(principal, request, deps)
  })
}

/** Records a post of an authenticated caller: validates, redacts, normalises and merges it, then answers. */
export async function recordRun(
  principal: Principal,
  request: HandlerRequest,
  deps: RecordDeps,
): Promise<HandlerResult<RunAnswer> | Refused> {
  const valid = validateSessionRun(request.body, deps.clock.now())
  if (isRefused(valid)) return valid
  const { tenant, sessionId } = principal
  if (sessionId !== undefined && sessionId !== valid.value.sessionId)
    return insufficientScope('The session token belongs to another session.')
  const named = nameUser(principal, valid.value)
  const post = deps.redactor ? await redactRun(named.post, deps.redactor) : named.post
  const { update, warnings } = normaliseRun(post)
  const merged = await mergeUpdate(tenant, update, deps)
  if (isRefused(merged)) return merged
  const { created, changed, ignored, state, run } = merged
  const answer: RunAnswer = {
    created,
    changed,
    ignored: named.ignored.length > 0 ? [...named.ignored, ...ignored] : ignored,
    warnings: joined(valid.warnings, warnings, clampedEnd(update, state), unpricedEnd(update, run, deps.prices)),
  }
  const status = created ? 201 : 200
  if (prefersMinimal(request.headers)) return success(status, answer, APPLIED)
  return success(status, { ...answer, run: viewRun(run) })
}

/** A post with a trusted user, and the ignored one. */
interface Named {
  readonly post: CheckedSessionRun
  readonly ignored: readonly IgnoredField[]
}

/**
 * Sets the user of a session token on its runs, and ignores any other user in the post, so that nobody spends in another's name.
 * An app secret may name any user.
 */
function nameUser({ sessionId, userId }: Principal, post: CheckedSessionRun): Named {
  const { userId: posted, ...rest } = post.run
  if (sessionId === undefined || posted === userId) return { post, ignored: NOTHING }
  const run = userId === undefined ? rest : { ...rest, userId }
  return { post: { ...post, run }, ignored: posted === undefined ? NOTHING : [notGranted(userId)] }
}

function notGranted(kept: string | undefined): IgnoredField {
  return { field: 'userId', reason: 'not_granted', ...(kept !== undefined && { kept }) }
}

const NOTHING: readonly IgnoredField[] = Object.freeze([])

/** Joins lists of warnings; most posts have none. */
function joined(...lists: readonly (readonly Warning[])[]): readonly Warning[] {
  const some = lists.filter((list) => list.length > 0)
  return some.length > 0 ? some.flat() : NO_WARNINGS
}

const NO_WARNINGS: readonly Warning[] = Object.freeze([])

/** Warns of an end before the start. They may come in two posts, so only the merged run shows it. */
function clampedEnd({ timings }: RunUpdate, state: RunState): readonly Warning[] {
  const posted = timings?.endedAt ?? timings?.startedAt
  return posted !== undefined && endsBeforeStart(state) ? [CLAMPED] : []
}

/** RFC 7240. */
const RETURN_MINIMAL = /(?:^|[,;])\s*return\s*=\s*"?minimal"?\s*(?:[,;]|$)/i

/** The header of an answer without runs. */
export const APPLIED: Readonly<Record<string, string>> = { 'preference-applied': 'return=minimal' }

/** Whether the caller wants an answer without runs. */
export function prefersMinimal({ prefer }: HandlerRequest['headers']): boolean {
  return prefer !== undefined && RETURN_MINIMAL.test(typeof prefer === 'string' ? prefer : prefer.join(','))
}

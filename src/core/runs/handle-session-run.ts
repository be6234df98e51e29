import type { Warning } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { RunState, RunUpdate } from '../../model/run.ts'
import type { RunAnswer } from '../../model/run-post.ts'
import { answering } from '../answers/fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate, insufficientScope } from '../authenticate.ts'
import { mergeUpdate } from './merge/merge-update.ts'
import { endsBeforeStart } from './merge/selectors.ts'
import { nameUser } from './name-user.ts'
import { CLAMPED, normaliseRun } from './normalise-run.ts'
import { unpricedEnd } from './price-run.ts'
import type { RecordDeps, SessionRunDeps } from './record-deps.ts'
import { redactRun } from './redact-run.ts'
import { viewRun } from './run-view.ts'
import { validateSessionRun } from './validate-session-run.ts'

/** Authenticates a caller and records what it tells of a run. Never throws. */
export function handleSessionRun(request: HandlerRequest, deps: SessionRunDeps): Promise<HandlerResult<RunAnswer>> {
  return answering(deps, async () => {
    const principal = await authenticate(request.headers, 'session_run', deps.auth)
    return isRefused(principal) ? principal : recordRun(principal, request, deps)
  })
}

/** Records what a caller tells of a run: all that comes after authentication. */
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

/** Most posts are warned of nothing. */
function joined(...lists: readonly (readonly Warning[])[]): readonly Warning[] {
  const some = lists.filter((list) => list.length > 0)
  return some.length > 0 ? some.flat() : NO_WARNINGS
}

const NO_WARNINGS: readonly Warning[] = Object.freeze([])

/** The end may have come with this post and the start with another: only the merged run shows that they do not fit. */
function clampedEnd({ timings }: RunUpdate, state: RunState): readonly Warning[] {
  const reported = timings?.endedAt ?? timings?.startedAt
  return reported !== undefined && endsBeforeStart(state) ? [CLAMPED] : []
}

/** RFC 7240. */
const RETURN_MINIMAL = /(?:^|[,;])\s*return\s*=\s*"?minimal"?\s*(?:[,;]|$)/i

/** The header of an answer that leaves runs out. */
export const APPLIED: Readonly<Record<string, string>> = { 'preference-applied': 'return=minimal' }

/** Whether the caller asks for runs to be left out of the answer. */
export function prefersMinimal({ prefer }: HandlerRequest['headers']): boolean {
  return prefer !== undefined && RETURN_MINIMAL.test(typeof prefer === 'string' ? prefer : prefer.join(','))
}

import { andThen } from '../../model/awaitable.ts'
import type { Warning } from '../../model/dispatch.ts'
import { type Principal, runEventLimitsOf } from '../../model/principal.ts'
import type { RunSource, RunState, RunUpdate } from '../../model/run.ts'
import type { IgnoredField, RunAnswer } from '../../model/run-post.ts'
import { shownReport } from '../../model/shown-run.ts'
import { answering } from '../answers/fault.ts'
import { checkQuery } from '../answers/query.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate, insufficientScope } from '../authenticate.ts'
import { unpricedEnd } from './merge/price-run.ts'
import { endsBeforeStart, viewAgentRun, viewRun } from './merge/selectors.ts'
import { mergeUpdate } from './merge-update.ts'
import { CLAMPED, normaliseRun } from './normalise-run.ts'
import type { RecordDeps, SessionRunDeps } from './record-deps.ts'
import { redactRun } from './redact-run.ts'
import { type CheckedSessionRun, validateSessionRun } from './session-run-schema.ts'

/** Authenticates a caller and records its post about a run. Never throws. */
export function handleSessionRun(request: HandlerRequest, deps: SessionRunDeps): Promise<HandlerResult<RunAnswer>> {
  return answering(deps, () =>
    andThen(authenticate(request.headers, 'session_run', deps.auth, deps.clock), (principal) =>
      isRefused(principal) ? principal : recordRun(principal, request, deps),
    ),
  )
}

/** Records a post of an authenticated caller: validates, redacts, normalises and merges it, then answers. */
export async function recordRun(
  principal: Principal,
  request: HandlerRequest,
  deps: RecordDeps,
): Promise<HandlerResult<RunAnswer> | Refused> {
  const misdirected = checkQuery(request.query, [])
  if (misdirected) return misdirected
  const valid = validateSessionRun(request.body, deps.clock.now())
  if (isRefused(valid)) return valid
  const { tenant, sessionId, runId = valid.value.run.runId } = principal
  if (sessionId !== undefined && sessionId !== valid.value.sessionId)
    return insufficientScope('The session token belongs to another session.')
  if (runId !== valid.value.run.runId) return insufficientScope('The session token belongs to another run.')
  const named = nameUser(principal, valid.value)
  const post = deps.redactor ? await redactRun(named.post, deps.redactor) : named.post
  const { update, warnings } = normaliseRun(post, principal.id)
  const source = sessionId === undefined ? 'application' : 'agent'
  const eventLimits = source === 'agent' && deps.outbox ? runEventLimitsOf(principal) : undefined
  const merged = await mergeUpdate(tenant, update, deps, { source, eventLimits })
  if (isRefused(merged)) return merged
  const { created, changed, ignored, state, run } = merged
  const isMinimal = prefersMinimal(request.headers)
  const answer: RunAnswer = {
    created,
    changed,
    ignored: named.ignored.length > 0 ? [...named.ignored, ...ignored] : ignored,
    warnings: joined(
      valid.warnings,
      warnings,
      clampedEnd(update, state, source),
      unpricedEnd(update, run, source, { tenant, prices: deps.prices }),
    ),
    ...(!isMinimal && { run: source === 'agent' ? viewAgentRun(run) : viewRun(run) }),
  }
  return success(created ? 201 : 200, answer, isMinimal ? APPLIED : undefined)
}

interface Named {
  readonly post: CheckedSessionRun
  readonly ignored: readonly IgnoredField[]
}

/** Replaces the posted user by that of a session token, which cannot spend for others. An application may name any user. */
function nameUser({ sessionId, userId }: Principal, post: CheckedSessionRun): Named {
  if (sessionId === undefined || post.run.userId === userId) return { post, ignored: NOTHING }
  const { userId: posted, ...rest } = post.run
  const run = userId === undefined ? rest : { ...rest, userId }
  return { post: { ...post, run }, ignored: posted === undefined ? NOTHING : [notGranted(userId)] }
}

function notGranted(kept: string | undefined): IgnoredField {
  return { field: 'userId', reason: 'not_granted', ...(kept !== undefined && { kept }) }
}

const NOTHING: readonly IgnoredField[] = Object.freeze([])

function joined(...lists: readonly (readonly Warning[])[]): readonly Warning[] {
  const some = lists.filter((list) => list.length > 0)
  return some.length > 0 ? some.flat() : NO_WARNINGS
}

const NO_WARNINGS: readonly Warning[] = Object.freeze([])

/** Warns about an end before the start. Start and end may be in two posts, so only the merged run shows it. */
function clampedEnd({ timings }: RunUpdate, state: RunState, source: RunSource): readonly Warning[] {
  const posted = timings?.endedAt ?? timings?.startedAt
  const report = source === 'agent' ? state.agent : shownReport(state)
  return posted !== undefined && report !== undefined && endsBeforeStart(report) ? [CLAMPED] : []
}

/** RFC 7240. */
const RETURN_MINIMAL = /(?:^|[,;])\s*return\s*=\s*"?minimal"?\s*(?:[,;]|$)/i

export const APPLIED: Readonly<Record<string, string>> = { 'preference-applied': 'return=minimal' }

export function prefersMinimal({ prefer }: HandlerRequest['headers']): boolean {
  return prefer !== undefined && RETURN_MINIMAL.test(typeof prefer === 'string' ? prefer : prefer.join(','))
}

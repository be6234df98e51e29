import type { Warning } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { RunAnswer, RunState, RunUpdate } from '../../model/run.ts'
import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { Logger } from '../../ports/logger.ts'
import type { MergeDecision, MergeSight, RunStore } from '../../ports/run-store.ts'
import { authenticate, insufficientScope } from '../authenticate.ts'
import { answering, port } from '../fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, refuse, success } from '../result.ts'
import { invalid, type Valid, validate } from '../validate.ts'
import { instantsAhead } from './instants.ts'
import { mergeRun, type RunMerge } from './merge-run.ts'
import { CLAMPED, normaliseRun } from './normalise-run.ts'
import { viewRun } from './run-view.ts'
import { type CheckedSessionRun, sessionRunSchema } from './session-run-schema.ts'
import { endsBeforeStart } from './shown-run.ts'

/** What recording a run needs. */
export interface SessionRunDeps {
  readonly auth: AuthVerifier
  readonly store: RunStore
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
  /** `create` (default): a session begins with its first run. `must-exist`: an unknown one is 404 `session_not_found`. */
  readonly sessions?: 'create' | 'must-exist'
}

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
  deps: Pick<SessionRunDeps, 'store' | 'clock' | 'sessions'>,
): Promise<HandlerResult<RunAnswer> | Refused> {
  const valid = validateSessionRun(request.body, deps.clock.now())
  if (isRefused(valid)) return valid
  const { sessionId, run: post } = valid.value
  if (principal.sessionId !== undefined && principal.sessionId !== sessionId)
    return insufficientScope('The session token belongs to another session.')

  const { update, warnings } = normaliseRun(valid.value)
  const key = { tenant: principal.tenant, sessionId, runId: post.runId }
  const { result, run } = await port('store_unavailable', () =>
    deps.store.mergeRun(key, (sight) => decide(sight, update, deps.sessions)),
  )
  if (result.outcome === 'session_missing') return refuse('session_not_found', 'Open the session before its first run.')
  if (result.outcome === 'conflict') return identityConflict(result.fields)

  const { created, changed, ignored, state } = result
  const answer: RunAnswer = {
    created,
    changed,
    ignored,
    warnings: [...valid.warnings, ...warnings, ...clampedEnd(update, state)],
  }
  const status = created ? 201 : 200
  if (prefersMinimal(request.headers.prefer)) return success(status, answer, { 'preference-applied': 'return=minimal' })
  return success(status, run ? { ...answer, run: viewRun(run) } : answer)
}

/** Checks the body by its schema, and its instants by the clock: all that is wrong with it is told at once. */
function validateSessionRun(body: unknown, now: number): Valid<CheckedSessionRun> | Refused {
  const valid = validate(sessionRunSchema, body)
  const ahead = instantsAhead(isRefused(valid) ? body : valid.value, now)
  if (ahead.length === 0) return valid
  return invalid(isRefused(valid) ? [...(valid.errors ?? []), ...ahead] : ahead)
}

type Recording = RunMerge | { readonly outcome: 'session_missing' }

function decide(
  { current, sessionExists }: MergeSight,
  update: RunUpdate,
  sessions: SessionRunDeps['sessions'],
): MergeDecision<Recording> {
  if (sessions === 'must-exist' && !sessionExists) return { result: { outcome: 'session_missing' } }
  const merge = mergeRun(current, update)
  return merge.outcome === 'merged' && merge.changed ? { write: merge.state, result: merge } : { result: merge }
}

function identityConflict(fields: readonly string[]): Refused {
  const errors = fields.map((field) => ({
    pointer: field === 'sessionId' ? '/sessionId' : `/run/${field}`,
    code: 'conflict' as const,
    detail: 'differs from what the run was recorded with',
  }))
  return refuse('run_identity_conflict', `A run keeps its ${fields.join(', ')}. Nothing was recorded.`, { errors })
}

/** The end may have come with this post and the start with another: only the merged run shows that they do not fit. */
function clampedEnd({ timings }: RunUpdate, state: RunState): readonly Warning[] {
  const told = timings?.endedAt ?? timings?.startedAt
  return told !== undefined && endsBeforeStart(state) ? [CLAMPED] : []
}

/** RFC 7240. */
const RETURN_MINIMAL = /(?:^|[,;])\s*return\s*=\s*"?minimal"?\s*(?:[,;]|$)/i

function prefersMinimal(prefer: HandlerRequest['headers'][string]): boolean {
  return prefer !== undefined && RETURN_MINIMAL.test(typeof prefer === 'string' ? prefer : prefer.join(','))
}

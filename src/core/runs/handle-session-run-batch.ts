import type { Principal } from '../../model/principal.ts'
import type { RecordedPost, RefusedPost, SessionRunBatchAnswer } from '../../model/run-batch.ts'
import type { RunAnswer } from '../../model/run-post.ts'
import type { Clock } from '../../ports/clock.ts'
import { type AnswerDeps, answering } from '../answers/fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate } from '../authenticate.ts'
import { yieldToEventLoop } from '../time-out.ts'
import { APPLIED, prefersMinimal, recordRun } from './handle-session-run.ts'
import { readBatch } from './read-batch.ts'
import type { RecordDeps, SessionRunDeps } from './record-deps.ts'

/** Authenticates a caller and records all that it tells of runs. Never throws. */
export function handleSessionRunBatch(
  request: HandlerRequest,
  deps: SessionRunDeps,
): Promise<HandlerResult<SessionRunBatchAnswer>> {
  return answering(deps, async () => {
    const principal = await authenticate(request.headers, 'session_run', deps.auth)
    return isRefused(principal) ? principal : recordBatch(principal, request, deps)
  })
}

/**
 * Records all that a caller tells of runs: every post by itself, as if it had come alone, so that none harms another. They are
 * recorded at once, so that a store can join them. In which order they get there is no matter: any comes to the same runs.
 */
export async function recordBatch(
  principal: Principal,
  { headers, body }: HandlerRequest,
  deps: RecordDeps & AnswerDeps,
): Promise<HandlerResult<SessionRunBatchAnswer> | Refused> {
  const batch = readBatch(body)
  if (isRefused(batch)) return batch
  const record = async (post: unknown, index: number): Promise<RecordedPost | RefusedPost> => {
    const result = await answering(deps, () => recordRun(principal, { headers, body: post }, deps))
    return resultOf(result, `/runs/${index}`)
  }
  const results = await inTurns(batch.posts, record, deps.clock)
  return success(200, { results, warnings: batch.warnings }, prefersMinimal(headers) ? APPLIED : {})
}

/** How long posts are recorded without anybody else's turn: a store in the process answers at once. */
const TURN_MS = 10

async function inTurns<Result>(
  posts: readonly unknown[],
  record: (post: unknown, index: number) => Promise<Result>,
  clock: Clock,
): Promise<readonly Result[]> {
  const results: Promise<Result>[] = []
  let began = clock.now()
  for (const [index, post] of posts.entries()) {
    results.push(record(post, index))
    if (clock.now() - began < TURN_MS) continue
    await yieldToEventLoop(clock)
    began = clock.now()
  }
  return Promise.all(results)
}

function resultOf({ ok, status, headers, body }: HandlerResult<RunAnswer>, place: string): RecordedPost | RefusedPost {
  if (ok) return { status, ...body, warnings: within(place, body.warnings) }
  const problem = body.errors ? { ...body, errors: within(place, body.errors) } : body
  const seconds = headers['retry-after']
  return seconds === undefined ? { status, problem } : { status, problem, retryAfterMs: Number(seconds) * 1000 }
}

/** What is told of places in a post, by their places in the batch. */
function within<Reported extends { readonly pointer: string }>(
  place: string,
  reported: readonly Reported[],
): readonly Reported[] {
  return reported.map((each) => ({ ...each, pointer: place + each.pointer }))
}

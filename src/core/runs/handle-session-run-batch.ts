import * as v from 'valibot'
import type { Warning } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import type { RecordedPost, RefusedPost, SessionRunBatchAnswer } from '../../model/run-batch.ts'
import type { RunAnswer } from '../../model/run-post.ts'
import type { Clock } from '../../ports/clock.ts'
import { type AnswerDeps, answering } from '../answers/fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate } from '../authenticate.ts'
import { membersOf, objectOf, type ReadFault, reading } from '../json/schema-readers.ts'
import { validate } from '../validate.ts'
import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import { APPLIED, prefersMinimal, recordRun } from './handle-session-run.ts'
import type { RecordDeps, SessionRunDeps } from './record-deps.ts'

/** Authenticates a caller and records its batch of posts. Never throws. */
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
 * Records every post of a batch as if it had come alone, so that a bad post does not harm the others. All posts run concurrently, so
 * that a store can group them (group commit). Their order does not matter: merging is commutative.
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
  const results = await inTimeSlices(batch.posts, record, deps.clock)
  return success(200, { results, warnings: batch.warnings }, prefersMinimal(headers) ? APPLIED : {})
}

/** How long posts may block the event loop: a store in the same process answers at once. */
const SLICE_MS = 10

async function inTimeSlices<Result>(
  posts: readonly unknown[],
  record: (post: unknown, index: number) => Promise<Result>,
  clock: Clock,
): Promise<readonly Result[]> {
  const results: Promise<Result>[] = []
  let began = clock.now()
  for (const [index, post] of posts.entries()) {
    results.push(record(post, index))
    if (clock.now() - began < SLICE_MS) continue
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

/** Makes pointers into a post point into the batch. */
function within<Pointing extends { readonly pointer: string }>(
  place: string,
  items: readonly Pointing[],
): readonly Pointing[] {
  return items.map((item) => ({ ...item, pointer: place + item.pointer }))
}

const MAX_POSTS = 100

/** The posts of a batch as they came, and warnings about its other members. */
interface Batch {
  readonly posts: readonly unknown[]
  readonly warnings: readonly Warning[]
}

/**
 * Checks that a batch has 1 to 100 posts. It does not look into the posts, so that a fault in one, however hostile, is no fault of
 * the batch.
 */
export function readBatch(body: unknown): Batch | Refused {
  const members = membersOf(body)
  const posts = members?.runs
  const closed = Array.isArray(posts) ? { ...members, runs: posts.slice(0, MAX_POSTS + 1).map(() => null) } : body
  const valid = validate(batchSchema, closed)
  if (isRefused(valid)) return valid
  // A value that is no list was refused above.
  return { posts: posts as readonly unknown[], warnings: valid.warnings }
}

const batchSchema = objectOf({ runs: reading(v.array(v.unknown()), readPosts) })

function readPosts(value: unknown, faults: ReadFault[]): unknown[] {
  const detail = `expected 1 to ${MAX_POSTS} posts`
  if (!Array.isArray(value)) faults.push({ code: 'type', detail: 'expected array' })
  else if (value.length === 0) faults.push({ code: 'too_short', detail })
  else if (value.length > MAX_POSTS) faults.push({ code: 'too_many', detail })
  return value as unknown[]
}

import * as v from 'valibot'
import type { Warning } from '../../model/dispatch.ts'
import { membersOf } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { ReadFault } from '../../model/read-fault.ts'
import type { RecordedPost, RefusedPost, SessionRunBatchAnswer } from '../../model/run-batch.ts'
import type { RunAnswer } from '../../model/run-post.ts'
import type { Clock } from '../../ports/clock.ts'
import { type AnswerDeps, answering } from '../answers/fault.ts'
import { checkQuery } from '../answers/query.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, success } from '../answers/result.ts'
import { authenticate } from '../authenticate.ts'
import { objectOf, reading } from '../json/schema-readers.ts'
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
    const principal = await authenticate(request.headers, 'session_run', deps.auth, deps.clock)
    return isRefused(principal) ? principal : recordBatch(principal, request, deps)
  })
}

export interface RecordBatchOptions {
  /** Called with the number of posts; refuses when they are over a rate limit, or returns headers of the answer. */
  readonly admit?: (posts: number) => Promise<Refused | Readonly<Record<string, string>>>
}

/** Records each post separately and concurrently, so that a store can group them. Merging is commutative: order does not matter. */
export async function recordBatch(
  principal: Principal,
  { headers, body, query }: HandlerRequest,
  deps: RecordDeps & AnswerDeps,
  { admit }: RecordBatchOptions = {},
): Promise<HandlerResult<SessionRunBatchAnswer> | Refused> {
  const misdirected = checkQuery(query, [])
  if (misdirected) return misdirected
  const batch = readBatch(body)
  if (isRefused(batch)) return batch
  const limits = (await admit?.(batch.posts.length)) ?? {}
  if (isRefused(limits)) return limits
  const record = async (post: unknown, index: number): Promise<RecordedPost | RefusedPost> => {
    const result = await answering(deps, () => recordRun(principal, { headers, body: post }, deps))
    return resultOf(result, `/runs/${index}`)
  }
  const results = await inTimeSlices(batch.posts, record, deps.clock)
  return success(200, { results, warnings: batch.warnings }, { ...limits, ...(prefersMinimal(headers) && APPLIED) })
}

/** Longest time that posts block the event loop: a store in the same process answers at once. */
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

function within<Pointing extends { readonly pointer: string }>(
  place: string,
  items: readonly Pointing[],
): readonly Pointing[] {
  return items.map((item) => ({ ...item, pointer: place + item.pointer }))
}

const MAX_POSTS = 100

interface Batch {
  readonly posts: readonly unknown[]
  readonly warnings: readonly Warning[]
}

/** Checks that a batch has 1 to 100 posts. Does not check the posts: a fault in one is no fault of the batch. */
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

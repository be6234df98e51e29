import type { Problem } from '../errors.ts'
import type { Warning } from '../model/dispatch.ts'
import type { SessionRunRequest } from '../model/run-post.ts'
import { isRetryable } from './client-error.ts'
import { joinPosts, withoutRefused } from './posts.ts'
import type { RunRecorderOptions } from './run-recorder-options.ts'

/** Sends posts of runs in the background, in batches. Never throws or rejects. */
export interface Outbox {
  /** Open runs: the heartbeat post of each, and the function that cancels the run. */
  readonly open: Map<SessionRunRequest, () => void>
  /** Adds a post and returns the post that it keeps. Joins it to the run's `last` post if that is unsent. */
  add(post: SessionRunRequest, last?: SessionRunRequest): SessionRunRequest
  /** Sends all posts, also during a `Retry-After`. Does not retry after `stop` aborts. */
  flush(stop?: AbortSignal): Promise<void>
  settled(): Promise<void>
  close(): void
}

const MAX_POSTS = 100

/** The answer for one post, or for the whole batch. A recorded post has warnings. */
interface ServerAnswer {
  readonly warnings?: readonly Warning[]
  readonly status?: number | undefined
  readonly problem?: Problem | undefined
  readonly retryAfterMs?: number | undefined
  /** Set if the status does not decide. */
  readonly retryable?: boolean
}

/** `split`: an intermediary refused the post or the size of its batch; halves show which one. A refused single post is dropped. */
function retryDecisionOf({
  warnings,
  status,
  problem,
  retryable,
}: ServerAnswer): 'recorded' | 'keep' | 'split' | 'drop' {
  if (warnings) return 'recorded'
  if (retryable ?? isRetryable(status)) return 'keep'
  return problem && status !== 413 ? 'drop' : 'split'
}

export function createOutbox(options: RunRecorderOptions): Outbox {
  const { client, heartbeatMs = 15_000, flushMs = 1_000, maxRuns = 1_000, onDropped, waitUntil } = options
  const open: Outbox['open'] = new Map()
  // A joined post leaves the set: the result of its send then does not affect the post that replaced it.
  const unsent = new Set<SessionRunRequest>()
  let timer: ReturnType<typeof setInterval> | undefined
  let beatAt = 0
  let lastDrain: Promise<void> = Promise.resolve()
  /** The drain that has not begun. Drains run one after the other. */
  let next: Promise<void> | undefined
  let urgent: { readonly stop: AbortSignal | undefined } | undefined
  let backoffMs = 0
  let pausedUntil = 0
  /** Signal of the drain that runs. */
  let signal: AbortSignal | undefined
  /** Longest wait that an answer to this drain asks for. */
  let waitMs: number
  /** Posts that this drain could not send, and its refusals. */
  let failures: number
  /** Refusals in a row that name no post. */
  let refused: number

  const isBeatDue = (): boolean => heartbeatMs > 0 && performance.now() >= beatAt

  function add(post: SessionRunRequest, last?: SessionRunRequest): SessionRunRequest {
    const joined = last && unsent.has(last) && joinPosts(last, post)
    if (joined) unsent.delete(last)
    const kept = joined || post
    unsent.add(kept)
    if (unsent.size > maxRuns) drop(oldestOf(unsent), 'overflow')
    if (hasEnded(kept) || unsent.size >= MAX_POSTS) push()
    if (!timer) {
      beatAt = performance.now() + heartbeatMs
      timer = setInterval(tick, flushMs)
      timer.unref?.()
    }
    return kept
  }

  function tick(): void {
    if (unsent.size || (open.size && isBeatDue())) push()
    else if (!open.size) close()
  }

  function push(): Promise<void> {
    if (!next) {
      next = lastDrain = lastDrain.then(() => quietly(drain))
      quietly(() => waitUntil?.(lastDrain))
    }
    return next
  }

  /** Sends all posts, with heartbeats if they are due, unless the server asked to wait. */
  async function drain(): Promise<void> {
    next = undefined
    if (!urgent && performance.now() < pausedUntil) return
    signal = urgent?.stop
    urgent = undefined
    waitMs = failures = refused = 0
    const posts = [...unsent]
    if (isBeatDue()) {
      posts.push(...open.keys())
      beatAt = performance.now() + heartbeatMs
    }
    await deliver(posts)
    backoffMs = failures && Math.min(60_000, 2 * backoffMs || 1000)
    pausedUntil = performance.now() + waitMs + Math.random() * backoffMs
  }

  /** Sends posts, in halves if they are refused as a whole. Returns whether further posts should be sent. */
  async function deliver(posts: readonly SessionRunRequest[]): Promise<boolean> {
    const { length } = posts
    if (!length) return true
    // Body parsers of hosts accept 100 kB; 30,000 characters of 3 bytes are less.
    const isTooMuch = length > MAX_POSTS || (length > 1 && JSON.stringify(posts).length > 30_000)
    const answers = isTooMuch ? [{ status: 413 }] : await send(posts)
    const isRefused = retryDecisionOf(answers[0] ?? {}) === 'split'
    if (isRefused && length > 1) {
      const half = length >> 1
      return (await deliver(posts.slice(0, half))) && deliver(posts.slice(half))
    }
    const again: SessionRunRequest[] = []
    let kept = 0
    posts.forEach((post, index) => {
      if (isKept(post, answers[index] ?? {}, again)) kept++
    })
    for (const post of again) unsent.add(post)
    refused = isRefused ? refused + 1 : 0
    failures += kept + refused
    // Two refusals in a row are not caused by the content.
    return kept < length && refused < 2 && deliver(again)
  }

  async function send(posts: readonly SessionRunRequest[]): Promise<readonly ServerAnswer[]> {
    try {
      const { results } = await client.recordRuns(posts, { signal })
      return posts.map((_, index) => Object(results[index]))
    } catch (error) {
      return posts.map(() => Object(error))
    }
  }

  /**
   * Removes a post that is recorded or refused. Returns whether it stays for a later drain.
   *
   * @param again Receives a refused post without its refused members.
   */
  function isKept(post: SessionRunRequest, answer: ServerAnswer, again: SessionRunRequest[]): boolean {
    const { problem, retryAfterMs = 0 } = answer
    const decision = retryDecisionOf(answer)
    if (decision === 'keep') {
      waitMs = Math.max(waitMs, retryAfterMs)
      return true
    }
    if (unsent.delete(post) && decision !== 'recorded') {
      const run = problem && withoutRefused(post.run, problem)
      if (run) again.push({ ...post, run })
      drop(post, problem ?? 'bad_answer')
    }
    return false
  }

  function drop(post: SessionRunRequest, why: Parameters<NonNullable<typeof onDropped>>[1]): void {
    unsent.delete(post)
    quietly(() => onDropped?.(post, why))
  }

  function close(): void {
    clearInterval(timer)
    timer = undefined
    for (const post of unsent) drop(post, 'closed')
  }

  return {
    open,
    add,
    flush(stop) {
      urgent = { stop }
      return push()
    },
    settled: () => lastDrain,
    close,
  }
}

/** The oldest post of a run that has not ended, or else of all. */
function oldestOf(posts: Iterable<SessionRunRequest>): SessionRunRequest {
  let oldest: SessionRunRequest | undefined
  for (const post of posts) {
    if (!hasEnded(post)) return post
    oldest ??= post
  }
  return oldest as SessionRunRequest
}

function hasEnded({ run }: SessionRunRequest): boolean {
  return !!run.timings?.endedAt
}

async function quietly(call: () => unknown): Promise<void> {
  try {
    await call()
  } catch {}
}

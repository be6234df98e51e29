import type { SessionRunRequest } from '../model/run-post.ts'
import { joinPosts } from './join-posts.ts'
import { retryDecisionOf, type ServerAnswer } from './retry-decision.ts'
import type { RunRecorderOptions } from './run-recorder-options.ts'
import { withoutRefused } from './without-refused.ts'

/** Sends what runs have to tell, in the background. Nothing here throws or rejects. */
export interface Outbox {
  /** The runs that have not ended: the sign of life of each, and what ends it as cancelled. */
  readonly open: Map<SessionRunRequest, () => void>
  /** Keeps a post, as it is or joined to the `last` of its run, where that is still unsent. Gives what it keeps. */
  add(post: SessionRunRequest, last?: SessionRunRequest): SessionRunRequest
  /** Sends all, even if the server asked to be left alone. Once `stop` aborts, nothing is tried again. */
  flush(stop?: AbortSignal): Promise<void>
  /** Resolves when what is being sent was answered, or was not. */
  settled(): Promise<void>
  /** Stops all timers, and drops what is unsent. */
  close(): void
}

const MOST_POSTS = 100

export function createOutbox(options: RunRecorderOptions): Outbox {
  const { client, heartbeatMs = 15_000, flushMs = 1_000, maxRuns = 1_000, onDropped, waitUntil } = options
  const open: Outbox['open'] = new Map()
  // A post that another is joined to leaves it: what comes of sending it is then that one's.
  const unsent = new Set<SessionRunRequest>()
  let backoffMs = 0
  let pausedUntil = 0
  let beatAt = 0
  let timer: ReturnType<typeof setInterval> | undefined
  let line: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  let urgent: { readonly stop: AbortSignal | undefined } | undefined

  const drop = (post: SessionRunRequest, why: Parameters<NonNullable<typeof onDropped>>[1]): void => {
    unsent.delete(post)
    quietly(() => onDropped?.(post, why))
  }
  const isBeatDue = (): boolean => heartbeatMs > 0 && performance.now() >= beatAt
  const send = async (posts: readonly SessionRunRequest[], signal?: AbortSignal): Promise<readonly ServerAnswer[]> => {
    try {
      const { results } = await client.recordRuns(posts, { signal })
      return posts.map((_, index) => Object(results[index]))
    } catch (error) {
      return posts.map(() => Object(error))
    }
  }
  const drain = async (): Promise<void> => {
    next = undefined
    if (!urgent && performance.now() < pausedUntil) return
    const signal = urgent?.stop
    urgent = undefined
    let waitMs = 0
    let failures = 0
    let barred = 0
    /** Says whether there is any use in sending others. */
    const deliver = async (posts: readonly SessionRunRequest[]): Promise<boolean> => {
      const { length } = posts
      if (!length) return true
      // Parsers before the endpoint let 100 kB pass: at 3 bytes a character this is less.
      const isTooMuch = length > MOST_POSTS || (length > 1 && JSON.stringify(posts).length > 30_000)
      const answers = isTooMuch ? [{ status: 413 }] : await send(posts, signal)
      const isBarred = retryDecisionOf(answers[0]) === 'split'
      if (isBarred && length > 1) {
        const half = length >> 1
        return (await deliver(posts.slice(0, half))) && deliver(posts.slice(half))
      }
      const again: SessionRunRequest[] = []
      let kept = 0
      posts.forEach((post, index) => {
        const { problem, retryAfterMs = 0 }: ServerAnswer = answers[index] ?? {}
        const decision = retryDecisionOf(answers[index])
        if (decision === 'keep') {
          kept += 1
          waitMs = Math.max(waitMs, retryAfterMs)
        } else if (unsent.delete(post) && decision !== 'recorded') {
          const run = problem && withoutRefused(post.run, problem)
          if (run) again.push({ ...post, run })
          drop(post, problem ?? 'bad_answer')
        }
      })
      for (const post of again) unsent.add(post)
      barred = isBarred ? barred + 1 : 0
      failures += kept + barred
      // Where two in a row are barred, it is not for what they hold.
      return kept < length && barred < 2 && deliver(again)
    }
    const posts = [...unsent]
    if (isBeatDue()) {
      posts.push(...open.keys())
      beatAt = performance.now() + heartbeatMs
    }
    await deliver(posts)
    backoffMs = failures && Math.min(60_000, 2 * backoffMs || 1000)
    pausedUntil = performance.now() + waitMs + Math.random() * backoffMs
  }
  const push = (): Promise<void> => {
    if (!next) {
      next = line = line.then(() => quietly(drain))
      quietly(() => waitUntil?.(line))
    }
    return next
  }
  const close = (): void => {
    clearInterval(timer)
    timer = undefined
    for (const post of unsent) drop(post, 'closed')
  }
  const tick = (): void => {
    if (unsent.size || (open.size && isBeatDue())) push()
    else if (!open.size) close()
  }
  return {
    open,
    add(post, last) {
      const joined = last && unsent.has(last) && joinPosts(last, post)
      if (joined) unsent.delete(last)
      const kept = joined || post
      unsent.add(kept)
      if (unsent.size > maxRuns) drop(oldestOf(unsent), 'overflow')
      if (hasEnded(kept) || unsent.size >= MOST_POSTS) push()
      if (!timer) {
        beatAt = performance.now() + heartbeatMs
        timer = setInterval(tick, flushMs)
        timer.unref?.()
      }
      return kept
    },
    flush(stop) {
      urgent = { stop }
      return push()
    },
    settled: () => line,
    close,
  }
}

/** Of the posts of runs that have not ended, or else of all, the first. */
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

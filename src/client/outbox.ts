import type { Problem } from '../errors.ts'
import type { Warning } from '../model/dispatch.ts'
import type { SessionRunRequest } from '../model/run-post.ts'
import type { RunRecorderOptions } from './run-recorder-options.ts'
import { keepPost, MOST_POSTS, takeBatch, type UnsentPosts } from './unsent-posts.ts'
import { withoutRefused } from './without-refused.ts'

/** Sends what runs have to tell, in the background. Nothing here throws or rejects. */
export interface Outbox {
  /** The runs that have not ended: the sign of life of each, and what ends it as cancelled. */
  readonly open: Map<SessionRunRequest, () => void>
  /** Keeps a post, to be sent with others. */
  add(post: SessionRunRequest): void
  /** @param stop Once it aborts, nothing is tried again. */
  flush(stop?: AbortSignal): Promise<void>
  /** Stops all timers. */
  rest(): void
}

/** What became of a post, or of the whole batch. What is recorded has warnings. */
interface Outcome {
  readonly warnings?: readonly Warning[]
  readonly status?: number | undefined
  readonly problem?: Problem | undefined
  readonly retryAfterMs?: number | undefined
}

export function createOutbox(options: RunRecorderOptions): Outbox {
  const { client, heartbeatMs = 15_000, flushMs = 1_000, maxRuns = 1_000, onDropped, waitUntil } = options
  const open: Outbox['open'] = new Map()
  const unsent: UnsentPosts = new Map()
  let backoffMs = 0
  let pausedUntil = 0
  let beatAt = 0
  let timer: ReturnType<typeof setInterval> | undefined
  let line: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  let stopping: AbortSignal | undefined

  const drop: NonNullable<typeof onDropped> = (post, why) => quietly(() => onDropped?.(post, why))
  const keep = (post: SessionRunRequest): void => {
    keepPost(unsent, post)
    if (unsent.size <= maxRuns) return
    const all = [...unsent]
    const oldest = all.find(([, { run }]) => !run.timings?.endedAt) ?? all[0]
    if (oldest && unsent.delete(oldest[0])) drop(oldest[1], 'overflow')
  }
  const send = async (posts: readonly SessionRunRequest[]): Promise<readonly Outcome[]> => {
    try {
      return (await client.recordRuns(posts, { signal: stopping })).results
    } catch (error) {
      return posts.map(() => Object(error))
    }
  }
  const drain = async (): Promise<void> => {
    next = undefined
    const todo = [...unsent.values()]
    unsent.clear()
    const kept: SessionRunRequest[] = []
    let waitMs = 0
    while (todo.length) {
      const batch = takeBatch(todo)
      const outcomes = await send(batch)
      const failed = batch.filter((post, index) => {
        const { warnings, problem, status, retryAfterMs = 0 } = outcomes[index] ?? {}
        if (warnings) return false
        if (!problem || status === 408 || status === 503) {
          waitMs = Math.max(waitMs, retryAfterMs)
          return true
        }
        const run = withoutRefused(post.run, problem)
        if (run) todo.push({ ...post, run })
        drop(post, problem)
        return false
      })
      kept.push(...failed)
      if (failed.length === batch.length) break
    }
    backoffMs = kept.length && Math.min(60_000, 2 * backoffMs || 1000)
    pausedUntil = performance.now() + waitMs + Math.random() * backoffMs
    const all = [...kept, ...todo, ...unsent.values()]
    unsent.clear()
    all.forEach(keep)
  }

  const flush = (stop?: AbortSignal): Promise<void> => {
    stopping = stop
    next ??= line = line.then(drain)
    quietly(() => waitUntil?.(line))
    return next
  }
  const rest = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const tick = async (): Promise<void> => {
    const now = performance.now()
    if (!open.size && !unsent.size) return rest()
    if (now < pausedUntil) return
    if (unsent.size) flush()
    if (!heartbeatMs || now < beatAt) return
    beatAt = now + heartbeatMs
    const signs = [...open.keys()]
    while (signs.length) await send(takeBatch(signs))
  }
  return {
    open,
    add(post) {
      keep(post)
      if (!backoffMs && (post.run.timings?.endedAt || unsent.size >= MOST_POSTS)) flush()
      if (timer) return
      beatAt = performance.now() + heartbeatMs
      timer = setInterval(tick, flushMs)
      timer.unref?.()
    },
    flush,
    rest,
  }
}

function quietly(call: () => void): void {
  try {
    call()
  } catch {}
}

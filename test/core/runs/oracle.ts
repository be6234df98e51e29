import { canonicalJson } from '../../../src/core/json/canonical-json.ts'
import type { RunStatus, RunUpdate } from '../../../src/model/run.ts'

const ORDER: RunStatus[] = ['queued', 'running', 'waiting', 'expired', 'completed', 'incomplete', 'failed', 'cancelled']
const classOf = (status: RunStatus) => (ORDER.indexOf(status) < 3 ? 0 : status === 'expired' ? 1 : 2)
const seqOf = ({ seq = -1 }: RunUpdate) => seq

/** The run that a set of posts should give: calculated from all of them at once, without merging. */
export function expectedRun(posts: readonly RunUpdate[]): Record<string, unknown> {
  const status = greatest(
    posts.filter((post) => post.status !== undefined),
    byStatus,
  )?.status
  const last = (read: (post: RunUpdate) => unknown) => {
    const reported = posts.filter((post) => read(post) !== undefined)
    return read(greatest(reported, (a, b) => seqOf(a) - seqOf(b) || byJson(read(a), read(b))) ?? ({} as RunUpdate))
  }
  const final = (read: (post: RunUpdate) => unknown) => {
    const reported = posts.filter(
      (post) => post.status !== undefined && classOf(post.status) > 0 && read(post) !== undefined,
    )
    const winner = greatest(reported, (a, b) => byStatus(a, b) || byJson(read(a), read(b)))
    return winner?.status === status && winner ? read(winner) : undefined
  }
  const numbers = (read: (post: RunUpdate) => number | undefined) => posts.map(read).filter((n) => n !== undefined)
  const least = (read: (post: RunUpdate) => number | undefined) => numbers(read).sort((a, b) => a - b)[0]
  const most = (read: (post: RunUpdate) => number | undefined) => numbers(read).sort((a, b) => b - a)[0]
  const metadata = (key: string) =>
    last(({ metadata = {} }) => (Object.hasOwn(metadata, key) ? metadata[key] : undefined))
  const started = least(({ timings }) => timings?.startedAt)
  const ended = final(({ timings }) => timings?.endedAt) as number | undefined
  return {
    status: status ?? 'running',
    model: last(({ model }) => model),
    agentName: last(({ agent }) => agent?.name),
    agentVersion: last(({ agent }) => agent?.version),
    cost: last(({ cost }) => cost),
    toolMs: last(({ timings }) => timings?.toolMs),
    waitingFor: status === 'waiting' ? last(({ waitingFor }) => waitingFor) : undefined,
    queuedAt: least(({ timings }) => timings?.queuedAt),
    startedAt: started,
    endedAt: ended === undefined ? undefined : Math.max(ended, started ?? ended),
    reportedDurationMs: final(({ timings }) => timings?.durationMs),
    error: final(({ error }) => error),
    finishReason: final(({ finishReason }) => finishReason),
    inputTokens: most(({ counts }) => counts?.inputTokens),
    outputTokens: most(({ counts }) => counts?.outputTokens),
    steps: most(({ counts }) => counts?.steps),
    usageDoubt: isInDoubt(posts) || undefined,
    tags: [...new Set(posts.flatMap(({ tags = [] }) => tags))].sort(),
    k: metadata('k') ?? undefined,
    toString: metadata('toString') ?? undefined,
    parentRunId: posts.find(({ parentRunId }) => parentRunId)?.parentRunId,
    attempt: posts.find(({ attempt }) => attempt)?.attempt,
  }
}

/** The last posts with tokens are in doubt, or a count of a post in doubt is not among the greatest of the others. */
function isInDoubt(posts: readonly RunUpdate[]): boolean {
  const metered = posts.filter(({ usageDoubt }) => usageDoubt !== undefined)
  const last = Math.max(...metered.map(seqOf))
  const most = (name: string, of: readonly RunUpdate[]) => Math.max(...of.map(({ counts }) => counts?.[name] ?? -1))
  const [clear, doubtful] = [posts.filter((post) => !post.usageDoubt), posts.filter((post) => post.usageDoubt)]
  return (
    doubtful.some((post) => seqOf(post) === last) ||
    ['inputTokens', 'outputTokens'].some((name) => most(name, doubtful) > most(name, clear))
  )
}

function byStatus(a: RunUpdate, b: RunUpdate): number {
  const first = a.status ?? 'running'
  const second = b.status ?? 'running'
  return classOf(first) - classOf(second) || seqOf(a) - seqOf(b) || ORDER.indexOf(first) - ORDER.indexOf(second)
}

/** `null` deletes: it is the greatest. */
function byJson(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const [first, second] = [canonicalJson(a), canonicalJson(b)]
  return first === second ? 0 : first > second ? 1 : -1
}

function greatest<T>(all: readonly T[], compare: (a: T, b: T) => number): T | undefined {
  return [...all].sort(compare).at(-1)
}

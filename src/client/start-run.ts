import type { RunPost, SessionRunRequest } from '../model/run-post.ts'
import { describeError } from './describe-error.ts'
import type { Outbox } from './outbox.ts'
import type { RecordedRun, RunStart } from './recorded-run.ts'

type Reported = { readonly [Field in keyof RunPost]?: RunPost[Field] | object | undefined }

/** Starts a run, whose posts go into the outbox. */
export function startRun(
  { sessionId, runId = `run_${crypto.randomUUID()}`, signal, ...known }: RunStart,
  { open, add, settled }: Outbox,
): RecordedRun {
  const sign = { sessionId, run: { runId } }
  const totals: Record<string, number> = Object.create(null)
  let seq = 0
  let last: SessionRunRequest | undefined
  let finishReason: string | undefined
  let isStreaming = false

  /** A copy: what is told stays what it was, whatever becomes of the caller's objects. Nothing is told of what cannot be JSON. */
  const write = (reported: Reported): SessionRunRequest => {
    seq = Math.max(seq + 1, Date.now())
    return JSON.parse(JSON.stringify({ sessionId, run: { ...reported, runId, seq } }))
  }
  const tell = (reported: Reported): void => {
    if (open.has(sign)) last = add(write(reported), last)
  }
  const end = (status: string, facts?: Reported): void => {
    if (!open.has(sign)) return
    const post = write({ status, finishReason, ...facts, timings: { endedAt: Date.now(), ...facts?.timings } })
    open.delete(sign)
    signal?.removeEventListener('abort', cancel)
    // The earlier beginning counts: where this one tells of one, it stays a post of its own.
    add(post, facts?.timings ? undefined : last)
  }
  const cancel = (): void => end('cancelled')
  const leave = (): void => end('failed', { error: { type: 'left_open' } })

  const first = write({ ...known, status: 'running', timings: { startedAt: Date.now() } })
  open.set(sign, cancel)
  last = add(first, last)
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  return {
    sessionId,
    runId,
    update(facts) {
      tell(facts)
      finishReason = facts.finishReason ?? finishReason
    },
    add(counts) {
      const reported: Record<string, number> = {}
      for (const name in counts) {
        const count = counts[name] ?? -1
        if (count >= 0 && count < 1 / 0) reported[name] = totals[name] = (totals[name] ?? 0) + count
      }
      tell({ counts: reported })
    },
    firstToken() {
      if (!isStreaming) tell({ timings: { firstTokenAt: Date.now() } })
      isStreaming = true
    },
    waitFor: (waitingFor) => tell({ status: 'waiting', waitingFor }),
    resume: () => tell({ status: 'running' }),
    complete: (facts) => end('completed', facts),
    incomplete: (facts) => end('incomplete', facts),
    fail: (error, facts) => end('failed', { error: describeError(error), ...facts }),
    cancel: (facts) => end('cancelled', facts),
    [Symbol.dispose]: leave,
    [Symbol.asyncDispose]() {
      leave()
      return settled()
    },
  }
}

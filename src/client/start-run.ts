import type { RunPost } from '../model/run-post.ts'
import { describeError } from './describe-error.ts'
import type { Outbox } from './outbox.ts'
import type { RecordedRun, RunStart } from './recorded-run.ts'

type Told = { readonly [Field in keyof RunPost]?: RunPost[Field] | object | undefined }

/** Starts a run, whose posts go into the outbox. */
export function startRun(
  { sessionId, runId = `run_${crypto.randomUUID()}`, signal, ...known }: RunStart,
  { open, add, flush }: Outbox,
): RecordedRun {
  const sign = { sessionId, run: { runId } }
  const totals: Record<string, number> = Object.create(null)
  let seq = 0
  let finishReason: string | undefined
  let isStreaming = false

  const post = (told: Told): void => {
    seq = Math.max(seq + 1, Date.now())
    // A copy: what is told stays what it was, whatever becomes of the caller's objects.
    add(JSON.parse(JSON.stringify({ sessionId, run: { ...told, runId, seq } })))
  }
  const tell = (told: Told): void => {
    if (open.has(sign)) post(told)
  }
  const end = (status: string, facts?: Told): void => {
    signal?.removeEventListener('abort', cancel)
    if (open.delete(sign)) post({ status, finishReason, ...facts, timings: { endedAt: Date.now(), ...facts?.timings } })
  }
  const cancel = (): void => end('cancelled')
  const leave = (): void => end('failed', { error: { type: 'left_open' } })

  open.set(sign, cancel)
  tell({ ...known, status: 'running', timings: { startedAt: Date.now() } })
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  return {
    sessionId,
    runId,
    update(facts) {
      finishReason = facts.finishReason ?? finishReason
      tell(facts)
    },
    add(counts) {
      const told: Record<string, number> = {}
      for (const name in counts) told[name] = totals[name] = (totals[name] ?? 0) + (counts[name] ?? 0)
      tell({ counts: told })
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
      return flush()
    },
  }
}

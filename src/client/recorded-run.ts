import type { ApprovalView } from '../model/approval.ts'
import type { ApprovalMethods, ApprovalRequest, ApprovalWaitOf } from '../model/approval-calls.ts'
import type { RunCounts, RunTimings, WaitingFor } from '../model/run.ts'
import type { RunPost, SessionRunRequest } from '../model/run-post.ts'
import type { Outbox } from './outbox.ts'

/** `Disposable`; `object` if the compiler's `lib` lacks it. */
export type Disposing = SymbolConstructor extends { readonly dispose: infer Key extends symbol }
  ? { readonly [dispose in Key]: () => void }
  : object

/** `AsyncDisposable`; `object` if the compiler's `lib` lacks it. */
export type AsyncDisposing = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol }
  ? { readonly [dispose in Key]: () => Promise<void> }
  : object

/** Data of a run at its start. */
export interface RunStart
  extends Pick<
    RunPost,
    | 'provider'
    | 'model'
    | 'agent'
    | 'parentRunId'
    | 'resumedFromRunId'
    | 'attempt'
    | 'userId'
    | 'environment'
    | 'tags'
    | 'metadata'
    | 'trace'
  > {
  /** 1-200 visible ASCII characters. */
  readonly sessionId: string
  /** Default: `run_` and a UUID. */
  readonly runId?: string
  /** An abort ends the run as `cancelled` at once. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Data of a run in progress; for counts see {@link RecordedRun.add}. Tokens of `usageByModel` are totals and include those of `add`.
 * `usage` is a provider's usage object: its counts are totals too, those of `add` hold over them, and later counts are sent with it, so
 * that they do not clear a doubt. `finishReason` is sent at the end of the run.
 */
export interface RunFacts
  extends Pick<
    RunPost,
    | 'provider'
    | 'model'
    | 'responseModel'
    | 'serviceTier'
    | 'agent'
    | 'countsScope'
    | 'usage'
    | 'usageByModel'
    | 'cost'
    | 'finishReason'
    | 'trace'
    | 'userId'
    | 'environment'
    | 'tags'
    | 'metadata'
  > {
  readonly timings?: Pick<RunTimings<never>, 'activeMs' | 'modelMs' | 'toolMs' | 'timeToFirstTokenMs'>
}

/** Data of a run at its end. */
export interface RunEnd extends Omit<RunFacts, 'timings'>, Pick<RunPost, 'error' | 'timings'> {}

/**
 * A run that is being recorded. The network never makes a method wait or throw. Data that is not JSON throws a TypeError and is not
 * recorded. The first end counts; later calls do nothing.
 *
 * Leaving a `using` block ends an open run as `failed`, with the error type `left_open`, because a block cannot know whether it threw:
 * end it with `run.complete()`. `await using` waits until that is sent or has failed; it does not send during a `Retry-After` of the
 * server.
 */
export interface RecordedRun extends AsyncDisposing, Disposing {
  readonly sessionId: string
  readonly runId: string
  /** Reports data. Later values win; metadata is merged by key, tags are united. */
  update(facts: RunFacts): void
  /** Adds to the run's totals: `add({ modelCalls: 1, inputTokens: 30 })`. Ignores values that are not finite numbers from 0. */
  add(counts: Partial<RunCounts>): void
  /** Sets `timings.firstTokenAt`, at the first call only. */
  firstToken(): void
  /** Sets the run to `waiting`, until {@link RecordedRun.resume}. */
  waitFor(what: WaitingFor): void
  resume(): void
  /**
   * Asks people for approval, and waits until the approval has ended: the run is `waiting` for `approval` meanwhile, and `running` after. Call
   * `consume` before the action is done. Rejects with the errors of `approvals`.
   *
   * @param approvals A client by `createApprovalClient()`, or `sallyport.approvals`.
   *
   * @example
   * ```ts
   * const action = { name: 'refund', args: { orderId: 'A-1', amount: 900 } }
   * const { status, approvalId } = await run.requestApproval(approvals, { eventType: 'refund.approval', message: 'Refund 900 USD?', action })
   * if (status === 'accepted') await approvals.consume({ sessionId: run.sessionId, approvalId, action, useId: run.runId })
   * ```
   */
  requestApproval(approvals: Pick<ApprovalMethods, 'request' | 'wait'>, question: RunQuestion): Promise<ApprovalView>
  complete(facts?: RunEnd): void
  /** Ends the run before its work was done, for example at a limit of tokens or steps. */
  incomplete(facts?: RunEnd): void
  /** @param error Records its `name` as type, its message up to 2,000 characters, and its `code` if that is a string. */
  fail(error: unknown, facts?: RunEnd): void
  cancel(facts?: RunEnd): void
}

/** A question of a run to people. */
export interface RunQuestion
  extends Omit<ApprovalRequest, 'sessionId' | 'runId'>,
    Pick<ApprovalWaitOf, 'waitMs' | 'signal'> {}

type Reported = { readonly [Field in keyof RunPost]?: RunPost[Field] | object | undefined }

export function startRun(
  { sessionId, runId = `run_${crypto.randomUUID()}`, signal, ...known }: RunStart,
  { open, add, settled }: Outbox,
): RecordedRun {
  const heartbeat = { sessionId, run: { runId } }
  const totals: Record<string, number> = Object.create(null)
  let seq = 0
  let last: SessionRunRequest | undefined
  let finishReason: string | undefined
  let usage: Reported['usage']
  let isStreaming = false

  /** A deep copy, unaffected by later changes of the caller. Throws if the data is not JSON. */
  const postOf = (reported: Reported): SessionRunRequest => {
    seq = Math.max(seq + 1, Date.now())
    usage = reported.usage ?? usage
    const post = { ...reported, ...(reported.counts && { usage }), runId, seq }
    return JSON.parse(JSON.stringify({ sessionId, run: post }))
  }
  const report = (reported: Reported): void => {
    if (open.has(heartbeat)) last = add(postOf(reported), last)
  }
  const end = (status: string, facts?: Reported): void => {
    if (!open.has(heartbeat)) return
    const post = postOf({ status, finishReason, ...facts, timings: { endedAt: Date.now(), ...facts?.timings } })
    open.delete(heartbeat)
    signal?.removeEventListener('abort', cancel)
    // The server keeps the earliest start, so an end with timings is a separate post.
    add(post, facts?.timings ? undefined : last)
  }
  const cancel = (): void => end('cancelled')
  const waitFor = (waitingFor: WaitingFor): void => report({ status: 'waiting', waitingFor })
  const resume = (): void => report({ status: 'running' })
  const leave = (): void => end('failed', { error: { type: 'left_open' } })

  const first = postOf({ ...known, status: 'running', timings: { startedAt: Date.now() } })
  open.set(heartbeat, cancel)
  last = add(first, last)
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  return {
    sessionId,
    runId,
    update(facts) {
      report(facts)
      finishReason = facts.finishReason ?? finishReason
    },
    add(counts) {
      const reported: Record<string, number> = {}
      for (const name in counts) {
        const count = counts[name] ?? -1
        if (count >= 0 && count < 1 / 0) reported[name] = totals[name] = (totals[name] ?? 0) + count
      }
      report({ counts: reported })
    },
    firstToken() {
      if (!isStreaming) report({ timings: { firstTokenAt: Date.now() } })
      isStreaming = true
    },
    waitFor,
    resume,
    async requestApproval(approvals, { waitMs, signal: stop, ...question }) {
      const { status, approvalId } = await approvals.request({ ...question, sessionId, runId })
      if (status === 'open') waitFor('approval')
      return approvals.wait({ sessionId, approvalId, waitMs, signal: stop }).finally(resume)
    },
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

/** Never throws. */
function describeError(thrown: unknown): { type: string; message?: string; code?: string | undefined } {
  try {
    const { name, message = thrown, code }: Partial<Record<string, unknown>> = Object(thrown)
    return {
      type: cut(name || '', 100) || 'Error',
      message: cut(message, 2000),
      code: typeof code === 'string' ? cut(code, 100) : undefined,
    }
  } catch {
    return { type: 'Error' }
  }
}

/** The first characters of a text, as the server accepts them: no NUL, no lone surrogate. */
function cut(text: unknown, max: number): string {
  return String(text).slice(0, max).replaceAll('\0', '').toWellFormed()
}

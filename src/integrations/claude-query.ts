import { checkOptions } from '../client/check-options.ts'
import type { RecordedRun, RunStart } from '../client/recorded-run.ts'
import type { RunRecorder } from '../client/run-recorder.ts'
import { tierOf } from '../model/service-tier.ts'
import { has } from '../options/checks.ts'
import { isRecord, required } from '../options/read-options.ts'
import { claudeUsage } from './claude-usage.ts'
import { ignoringErrors, knownText, type Members, textOf, untypedMembers } from './untyped.ts'

/** The used part of a query of the Claude Agent SDK. */
export type ClaudeMessages = AsyncGenerator<{ readonly type: string }, void>

/**
 * Records a query of the Claude Agent SDK as a run: `claudeQuery(recorder, { sessionId: 's1' }, query({ prompt }))`. Returns the query,
 * with its methods. Starts the run at once, and ends it with the messages. A subagent has its own run, a child of its caller's.
 *
 * The last result decides the status: `completed`; `incomplete` at a limit of turns or cost; `failed`; or `cancelled` after an interrupt.
 * A query without a result is `failed` if it throws, and `cancelled` if it is aborted or its messages are not read to the end.
 *
 * Counts tokens, which include those of the subagents (`countsScope: 'tree'`), `modelCalls` (messages of the model), `steps` (those of
 * the main agent), `toolCalls`, `toolErrors`, `modelErrors`, `retries`, and `unmeteredCalls` (without a result). Reports the models, the
 * cost (an estimate of the SDK at list prices), `finishReason`, `serviceTier` (`mixed` if its messages differ), the first token with
 * `includePartialMessages`, and `usageByModel` for several models. Runs of subagents have no tokens: the SDK does not report theirs.
 * Does not record prompts or outputs.
 * @param start Data of the run. `provider` defaults to `anthropic`. Its `signal` should be that of the query's `abortController`.
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function claudeQuery<Messages extends ClaudeMessages>(
  recorder: Pick<RunRecorder, 'start'>,
  start: RunStart,
  query: Messages,
): Messages {
  checkOptions(
    'claudeQuery',
    { recorder, start, query },
    {
      recorder: required(has('createRunRecorder(…)', 'start')),
      start: required((value) => (isRecord(value) ? undefined : 'must be an object')),
      query: required(has('what query(…) of the SDK returned', 'next', 'return', 'throw')),
    },
  )
  const recording = recordingOf(recorder, start)
  const see = (message: unknown): void => ignoringErrors(() => recording.see(untypedMembers(message)))
  const observed = {
    async next(...args: [] | [unknown]) {
      try {
        const next = await query.next(...args)
        if (next.done) recording.end()
        else see(next.value)
        return next
      } catch (error) {
        recording.end(error)
        throw error
      }
    },
    return(value: void | PromiseLike<void>) {
      recording.leave()
      return query.return(value)
    },
    throw(error: unknown) {
      recording.leave()
      return query.throw(error)
    },
    [Symbol.asyncIterator]: (): Messages => proxy,
  }
  const proxy: Messages = new Proxy(query, {
    get(_, key) {
      if (Object.hasOwn(observed, key)) return Reflect.get(observed, key)
      const member: unknown = Reflect.get(query, key)
      return typeof member === 'function' ? member.bind(query) : member
    },
  })
  return proxy
}

/** The service tier of a run whose calls had several. */
const MIXED = 'mixed'

interface Recording {
  see(message: Members): void
  /** The query ended, or threw. */
  end(error?: unknown): void
  /** Its reader left. */
  leave(): void
}

function recordingOf(recorder: Pick<RunRecorder, 'start'>, start: RunStart): Recording {
  const { sessionId, provider = 'anthropic', userId, environment, signal } = start
  const run = recorder.start({ provider, ...start })
  const usage = claudeUsage(run)
  const seen = new Set<unknown>()
  /** The run that made each tool call, and that of the subagent in it. */
  const callers = new Map<unknown, RecordedRun>()
  const children = new Map<unknown, RecordedRun>()
  const tiers = new Map<RecordedRun, string>()
  let result: Members | undefined
  let unmetered = 0

  const isNew = (id: unknown): boolean => id !== undefined && !seen.has(id) && Boolean(seen.add(id))

  const childOf = (toolUseId: unknown, name: unknown): RecordedRun => {
    const known = children.get(toolUseId)
    if (known) return known
    const { runId: parentRunId } = callers.get(toolUseId) ?? run
    const agent = textOf(name, 128)
    const facts = { userId, environment, signal, ...(agent && { agent: { name: agent } }) }
    const child = recorder.start({ sessionId, provider, parentRunId, ...knownText(facts) })
    children.set(toolUseId, child)
    // From now on its counts include those of others.
    run.update({ countsScope: 'tree' })
    return child
  }

  /** The SDK reports tokens by model, not by tier: a mixture has no tier that could price them. */
  const seeTier = (by: RecordedRun, usage: unknown): void => {
    const tier = tierOf(untypedMembers(usage))
    if (tier === undefined) return
    for (const one of new Set([by, run])) {
      const serviceTier = (tiers.get(one) ?? tier) === tier ? tier : MIXED
      tiers.set(one, serviceTier)
      one.update({ serviceTier })
    }
  }

  const seeAnswer = (by: RecordedRun, { message, error }: Members): void => {
    const { id, model, content, usage: messageUsage } = untypedMembers(message)
    result = undefined
    if (error) count(by, { modelErrors: 1 })
    // The SDK writes such a message in place of an answer.
    else if (model !== '<synthetic>' && isNew(id)) {
      unmetered++
      count(by, { modelCalls: 1 })
      if (by === run) run.add({ steps: 1 })
      by.update(knownText({ responseModel: textOf(model, 200) }))
      seeTier(by, messageUsage)
    }
    for (const { type, id: toolUseId } of blocksOf(content)) {
      if (type !== 'tool_use' || !isNew(toolUseId)) continue
      callers.set(toolUseId, by)
      count(by, { toolCalls: 1 })
    }
  }

  const seeToolResults = (by: RecordedRun, { message, tool_use_result }: Members): void => {
    for (const { type, tool_use_id, is_error } of blocksOf(untypedMembers(message).content)) {
      if (type !== 'tool_result') continue
      if (is_error) count(by, { toolErrors: 1 })
      // Ends a subagent, unless it runs in the background.
      if (!untypedMembers(tool_use_result).isAsync) endChild(tool_use_id, is_error ? 'failed' : 'completed')
    }
  }

  /** Counts of a child are also counts of the tree. */
  const count = (by: RecordedRun, counts: Record<string, number>): void => {
    run.add(counts)
    if (by !== run) by.add(counts)
  }

  const endChild = (toolUseId: unknown, status: unknown): void => {
    const child = children.get(toolUseId)
    if (status === 'completed') child?.complete()
    else if (status === 'failed') child?.fail({ name: 'subagent_failed', message: 'The subagent failed' })
    else child?.cancel()
  }

  const seeSystem = (message: Members): void => {
    const { subtype, model, tool_use_id, task_type, subagent_type, status } = message
    if (subtype === 'init') run.update(knownText({ model: textOf(model, 200) }))
    if (subtype === 'api_retry') run.add({ retries: 1, modelErrors: 1 })
    if (subtype === 'task_started' && task_type === 'local_agent') childOf(tool_use_id, subagent_type)
    if (subtype === 'task_notification') endChild(tool_use_id, status)
  }

  const finish = (error?: unknown): void => {
    if (unmetered) run.add({ unmeteredCalls: unmetered })
    unmetered = 0
    for (const child of children.values()) child.cancel()
    if (result) endBy(result, run)
    else if (error === undefined || isAbort(error)) run.cancel()
    else run.fail(error)
  }

  return {
    see(message) {
      const { type, parent_tool_use_id, subagent_type, event } = message
      if (type === 'system') return seeSystem(message)
      if (type === 'result') {
        result = message
        unmetered = 0
        run.add(usage.add(message))
        return run.update(usage.facts(provider))
      }
      const by = parent_tool_use_id ? childOf(parent_tool_use_id, subagent_type) : run
      if (type === 'assistant') seeAnswer(by, message)
      if (type === 'user') seeToolResults(by, message)
      if (type === 'stream_event' && untypedMembers(event).type === 'content_block_delta') by.firstToken()
    },
    end: finish,
    leave: finish,
  }
}

function endBy(result: Members, run: RecordedRun): void {
  const { subtype, is_error, stop_reason, terminal_reason, api_error_type, errors, result: text } = result
  const limit = /^error_(max_turns|max_budget_usd)$/.exec(String(subtype))?.[1]
  const finishReason = textOf(limit ?? stop_reason)
  const facts = knownText({ finishReason })
  if (!is_error) run.complete(facts)
  else if (String(terminal_reason).startsWith('aborted')) run.cancel(facts)
  else if (limit) run.incomplete(facts)
  else {
    const name = subtype === 'success' ? (api_error_type ?? terminal_reason) : subtype
    run.fail({ name, message: text ?? untypedMembers(errors)[0] }, facts)
  }
}

function blocksOf(content: unknown): Members[] {
  return Array.isArray(content) ? content.map(untypedMembers) : []
}

/** Errors of an aborted query: `Claude Code process aborted by user`. */
function isAbort(error: unknown): boolean {
  const { name, message } = untypedMembers(error)
  return name === 'AbortError' || /^(?:Claude Code process|Operation|Request)\b.*\baborted\b/.test(String(message))
}

import type { ApprovalMethods } from '../../model/approval-calls.ts'
import { fn } from '../../options/checks.ts'
import { type Checks, required } from '../../options/read-options.ts'
import { untypedMembers } from '../untyped.ts'
import { type AgentAnswerOptions, type AgentToolCall, ANSWER_OPTIONS, type ApprovalOutcome, askerOf } from './asking.ts'

/** Options of {@link langGraphApprovals}. */
export interface LangGraphApprovalOptions extends AgentAnswerOptions {
  /** `interrupt` of `@langchain/langgraph`. */
  readonly interrupt: (value: LangGraphQuestion) => unknown
}

/** The value of an interrupt, which the state of the thread shows. */
export interface LangGraphQuestion {
  readonly type: 'approval'
  readonly sessionId: string
  readonly approvalId: string
  readonly toolCallId: string
  readonly message: string
}

/** An interrupt of a thread. */
export interface LangGraphInterrupt {
  readonly id?: string | undefined
  readonly value?: unknown
}

/** The used part of `await graph.getState(config)`. */
export interface LangGraphThread {
  readonly tasks: readonly { readonly interrupts: readonly LangGraphInterrupt[] }[]
}

/** Approvals for one run of LangGraph. */
export interface LangGraphApprovals {
  /**
   * Within a node: asks people about a tool call and interrupts the graph. After the resume, the node repeats from its start; then it asks nobody
   * again, waits if nobody has answered yet, and takes the accepted action. `undefined`: the call needs no approval.
   */
  ask(call: AgentToolCall): Promise<ApprovalOutcome | undefined>
  /**
   * Waits for the answers to all questions of a thread, and resolves to the value for `new Command({ resume })`: the status of each one. The node
   * asks the store again, so that another value releases nothing. `undefined`: the thread has no question, or one is still open.
   */
  resume(thread: LangGraphThread): Promise<Readonly<Record<string, { readonly status: string }>> | undefined>
}

const LANG_GRAPH: Checks<LangGraphApprovalOptions> = { ...ANSWER_OPTIONS, interrupt: required(fn) }

/**
 * Lets nodes of LangGraph ask people for approval. The graph needs a checkpointer. `runId` is the same before and after the interrupt, such as the
 * id of the thread, and each call of a tool has an `id` of its own in it.
 *
 * @param approvals `sallyport.approvals`, or `createApprovalClient(…)`.
 *
 * @example
 * ```ts
 * const { ask, resume } = langGraphApprovals(approvals, { sessionId: 's1', runId: 'thread-1', eventType: 'refund.approval', interrupt })
 * const node = async ({ call }) => ((await ask(call))?.approved ? { result: await refund(call.args) } : { result: 'not done' })
 * // Afterwards, in any process:
 * const values = await resume(await graph.getState(config))
 * if (values) await graph.invoke(new Command({ resume: values }), config)
 * ```
 *
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function langGraphApprovals(approvals: ApprovalMethods, options: LangGraphApprovalOptions): LangGraphApprovals {
  const asker = askerOf('langGraphApprovals', approvals, options, LANG_GRAPH)
  const { sessionId, interrupt } = options
  return {
    async ask(call) {
      const asked = await asker.ask(call)
      if (!asked) return undefined
      const { approvalId, message = '' } = asked
      // The graph numbers the interrupts of a node: there is always one for each question.
      interrupt({ type: 'approval', sessionId, approvalId, toolCallId: call.id, message })
      return asker.take(call, asked)
    },
    async resume({ tasks }) {
      const questions = tasks
        .flatMap(({ interrupts }) => interrupts)
        .flatMap(({ id, value }) => {
          const { type, sessionId: session, approvalId } = untypedMembers(value)
          const isOwn = type === 'approval' && session === sessionId && typeof approvalId === 'string'
          return isOwn && id !== undefined ? [{ id, approvalId }] : []
        })
      const ended = await Promise.all(
        questions.map(async ({ id, approvalId }) => [id, { status: await asker.end(approvalId) }] as const),
      )
      const isWhole = ended.length > 0 && ended.every(([, { status }]) => status !== 'open')
      return isWhole ? Object.fromEntries(ended) : undefined
    },
  }
}

import type { ApprovalStatus } from '../../model/approval.ts'
import type { ApprovalMethods } from '../../model/approval-calls.ts'
import {
  type AgentAnswerOptions,
  type AgentToolCall,
  ANSWER_OPTIONS,
  type ApprovalOutcome,
  argsIn,
  askerOf,
} from './asking.ts'

/** The used part of a tool call of AG-UI. */
export interface AgUiToolCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

/** An interrupt of AG-UI, as the end of a run carries it. */
export interface AgUiInterrupt {
  id: string
  reason: string
  message: string
  toolCallId: string
  expiresAt: string
}

/** An entry of `resume` of AG-UI. */
export interface AgUiResumeEntry {
  interruptId: string
  /** `cancelled`: nobody answered in time, or the question was withdrawn. */
  status: 'resolved' | 'cancelled'
  payload: ApprovalOutcome
}

/** Approvals for one run of an AG-UI agent and the run that continues it. */
export interface AgUiApprovals {
  /** Asks people about tool calls, and resolves to the interrupts with which the run ends. Calls that need no approval have none. */
  interrupts(calls: readonly AgUiToolCall[]): Promise<AgUiInterrupt[]>
  /**
   * Waits for the answers to all interrupts of a run, takes the accepted actions, and resolves to the entries for `resume`, in the order of the
   * calls. `undefined`: one is still open when the wait ends, and none may be resumed without it. The agent that continues calls it too, and reads
   * these payloads, because a client may send any.
   */
  resume(calls: readonly AgUiToolCall[]): Promise<AgUiResumeEntry[] | undefined>
}

/**
 * Lets agents of AG-UI 1.0 ask people for approval. `runId` is that of the run which ends with the interrupts, also for the run that continues it.
 *
 * @param approvals `sallyport.approvals`, or `createApprovalClient(…)`.
 *
 * @example
 * ```ts
 * const { interrupts, resume } = agUiApprovals(approvals, { sessionId: threadId, runId, eventType: 'refund.approval' })
 * const outcome = { type: 'interrupt', interrupts: await interrupts(toolCalls) }
 * // The run that continues:
 * for (const { payload } of (await resume(toolCalls)) ?? []) if (payload.approved) await callTool(payload.toolCallId)
 * ```
 *
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function agUiApprovals(approvals: ApprovalMethods, options: AgentAnswerOptions): AgUiApprovals {
  const asker = askerOf('agUiApprovals', approvals, options, ANSWER_OPTIONS)
  return {
    async interrupts(calls) {
      const asked = await Promise.all(calls.map(async (call) => ({ call, view: await asker.ask(callOf(call)) })))
      return asked.flatMap(({ call, view }): AgUiInterrupt[] => {
        if (!view) return []
        const { approvalId, message = '', expiresAt } = view
        return [{ id: approvalId, reason: 'tool_call', message, toolCallId: call.id, expiresAt }]
      })
    },
    async resume(calls) {
      const outcomes = await asker.takeAll(calls.map(callOf))
      if (outcomes.some(({ status }) => status === 'open')) return undefined
      return outcomes.map((payload) => ({
        ...{ interruptId: payload.approvalId, payload },
        status: isAnswer(payload.status) ? 'resolved' : 'cancelled',
      }))
    },
  }
}

function callOf({ id, function: { name, arguments: text } }: AgUiToolCall): AgentToolCall {
  return { id, name, args: argsIn(text) }
}

function isAnswer(status: ApprovalStatus): boolean {
  return status === 'accepted' || status === 'declined'
}

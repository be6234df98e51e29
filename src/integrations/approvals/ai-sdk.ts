import type { ApprovalMethods } from '../../model/approval-calls.ts'
import { untypedMembers } from '../untyped.ts'
import {
  type AgentApprovalOptions,
  type AgentToolCall,
  APPROVAL_OPTIONS,
  argsOf,
  askerOf,
  isSameAction,
} from './asking.ts'

/** A status of the AI SDK's `toolApproval`. */
export interface AiSdkApprovalStatus {
  readonly type: 'approved' | 'denied' | 'user-approval'
  readonly reason: string
}

/** The used part of what the AI SDK gives to `toolApproval`. */
export interface AiSdkApprovalCall {
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }
  readonly messages: readonly object[]
}

/** A part of a message with the role `tool`. */
export interface AiSdkApprovalResponse {
  readonly type: 'tool-approval-response'
  readonly approvalId: string
  readonly approved: boolean
  readonly reason: string
}

/** Approvals for one run of the AI SDK. */
export interface AiSdkApprovals {
  /**
   * For `generateText`, `streamText` and agents: asks people about a tool call, waits, and takes the accepted action before the tool runs. A
   * question that is still open when the wait ends gives `user-approval`, which ends the turn. An approval in the messages of the next turn runs
   * nothing unless a person accepted here.
   */
  toolApproval(call: AiSdkApprovalCall): Promise<AiSdkApprovalStatus | undefined>
  /**
   * Resolves to the answers to the `tool-approval-request` parts of a turn that has ended, of which none had an answer: content of a message
   * with the role `tool`. Asks about all of them before it waits for any, and leaves out those that are still open.
   */
  responses(messages: readonly object[]): Promise<AiSdkApprovalResponse[]>
}

/**
 * Lets agents of the AI SDK 7 ask people for approval.
 *
 * The SDK knows no end but `approved` and `denied`: the reason says whether a person declined or nobody answered in time. A call that has a
 * result in the messages is not done again. If a client keeps the messages, it can send them without that result: set `once`.
 *
 * @param approvals `sallyport.approvals`, or `createApprovalClient(…)`.
 *
 * @example
 * ```ts
 * const { toolApproval } = aiSdkApprovals(approvals, { sessionId: 's1', runId: 'r1', eventType: 'refund.approval' })
 * await generateText({ model, tools, toolApproval, prompt, stopWhen: stepCountIs(5) })
 * ```
 *
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function aiSdkApprovals(approvals: ApprovalMethods, options: AgentApprovalOptions): AiSdkApprovals {
  const asker = askerOf('aiSdkApprovals', approvals, options, APPROVAL_OPTIONS)
  return {
    async toolApproval({ toolCall: { toolCallId, toolName, input }, messages }) {
      const call = { id: toolCallId, name: toolName, args: argsOf(input) }
      const asked = await asker.ask(call)
      if (!asked) return undefined
      const turn = turnIn(messages)
      const before = turn.calls.get(toolCallId)
      if (before && turn.done.has(toolCallId) && isSameAction(before, call))
        return { type: 'denied', reason: 'This call has a result: it is not done again.' }
      const { approved, status, reason } = await asker.take(call, asked)
      if (approved) return { type: 'approved', reason }
      // The SDK takes every status but `denied` for a consent if the messages have one.
      const endsTurn = status === 'open' && !turn.answered.has(toolCallId)
      return { type: endsTurn ? 'user-approval' : 'denied', reason }
    },
    async responses(messages) {
      const { requests, calls, answered, done } = turnIn(messages)
      const open = [...requests].flatMap(([id, approvalId]) => {
        const call = calls.get(id)
        return call && !answered.has(id) && !done.has(id) ? [{ call, approvalId }] : []
      })
      const outcomes = await asker.takeAll(open.map(({ call }) => call))
      return open.flatMap(({ call, approvalId }): AiSdkApprovalResponse[] => {
        const outcome = outcomes.find(({ toolCallId }) => toolCallId === call.id)
        if (!outcome || outcome.status === 'open') return []
        return [{ type: 'tool-approval-response', approvalId, approved: outcome.approved, reason: outcome.reason }]
      })
    },
  }
}

interface Turn {
  readonly calls: ReadonlyMap<string, AgentToolCall>
  /** The SDK's ids of its requests, by the ids of the calls. */
  readonly requests: ReadonlyMap<string, string>
  /** Ids of calls with an answer. */
  readonly answered: ReadonlySet<string>
  /** Ids of calls with a result. */
  readonly done: ReadonlySet<string>
}

function turnIn(messages: readonly object[]): Turn {
  const calls = new Map<string, AgentToolCall>()
  const requests = new Map<string, string>()
  const answers = new Set<unknown>()
  const done = new Set<string>()
  for (const message of messages) {
    const { content } = untypedMembers(message)
    for (const part of Array.isArray(content) ? content : []) {
      const { type, toolCallId, toolName, input, approvalId, isAutomatic, output } = untypedMembers(part)
      const id = String(toolCallId)
      if (type === 'tool-call') {
        calls.set(id, { id, name: String(toolName), args: argsOf(input) })
        // Some models use an id again.
        requests.delete(id)
        done.delete(id)
      }
      if (type === 'tool-approval-request' && isAutomatic !== true) requests.set(id, String(approvalId))
      if (type === 'tool-approval-response') answers.add(approvalId)
      if (type === 'tool-result' && untypedMembers(output).type !== 'execution-denied') done.add(id)
    }
  }
  const answered = [...requests].flatMap(([id, approvalId]) => (answers.has(approvalId) ? [id] : []))
  return { calls, requests, answered: new Set(answered), done }
}

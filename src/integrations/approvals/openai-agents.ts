import type { ApprovalMethods } from '../../model/approval-calls.ts'
import { untypedMembers } from '../untyped.ts'
import {
  type AgentApprovalOptions,
  type AgentToolCall,
  APPROVAL_OPTIONS,
  type ApprovalOutcome,
  argsIn,
  argsOf,
  askerOf,
} from './asking.ts'

/** The used part of an interruption of the OpenAI Agents SDK. */
export interface OpenAiApprovalItem {
  readonly name?: string | undefined
  readonly rawItem: { readonly type: string }
}

/** The used part of a result of the OpenAI Agents SDK, or of a stored state: `{ state, interruptions: state.getInterruptions() }`. */
export interface OpenAiInterruptedRun<Item extends OpenAiApprovalItem> {
  readonly interruptions?: readonly Item[] | undefined
  readonly state: {
    approve(item: Item): void
    reject(item: Item, options: { message: string }): void
  }
}

/** An input guardrail of a tool of the OpenAI Agents SDK. */
export interface OpenAiApprovalGuardrail {
  readonly type: 'tool_input'
  readonly name: string
  run(call: {
    readonly toolCall: { readonly callId: string; readonly name: string; readonly arguments: string }
  }): Promise<{
    readonly behavior: { readonly type: 'allow' } | { readonly type: 'rejectContent'; readonly message: string }
  }>
}

/** Approvals for one run of the OpenAI Agents SDK. */
export interface OpenAiAgentsApprovals {
  /**
   * Asks people about all interruptions of a run, waits, and approves or rejects each one on its state: then run the agent with the state. An
   * accepted action is taken. One that is still open when the wait ends stays an interruption.
   */
  decide<Item extends OpenAiApprovalItem>(run: OpenAiInterruptedRun<Item>): Promise<readonly ApprovalOutcome[]>
  /**
   * For `inputGuardrails` of a tool that needs approval: the SDK keeps a decision by the id of the call alone. Lets a call through if a person
   * accepted exactly its tool and arguments, and lets it through once for this object.
   */
  readonly guardrail: OpenAiApprovalGuardrail
}

/**
 * Lets agents of the OpenAI Agents SDK ask people for approval, for tools with `needsApproval`.
 *
 * @param approvals `sallyport.approvals`, or `createApprovalClient(…)`.
 *
 * @example
 * ```ts
 * const { decide, guardrail } = openAiAgentsApprovals(approvals, { sessionId: 's1', runId: 'r1', eventType: 'refund.approval' })
 * const refund = tool({ name: 'refund', needsApproval: true, inputGuardrails: [guardrail], parameters, execute })
 * let result = await run(agent, 'Refund A-1.')
 * while (result.interruptions.length > 0) {
 *   await decide(result)
 *   result = await run(agent, result.state)
 * }
 * ```
 *
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function openAiAgentsApprovals(
  approvals: ApprovalMethods,
  options: AgentApprovalOptions,
): OpenAiAgentsApprovals {
  const asker = askerOf('openAiAgentsApprovals', approvals, options, APPROVAL_OPTIONS)
  const started = new Set<string>()
  return {
    async decide({ interruptions = [], state }) {
      const asked = interruptions.map((item) => ({ item, call: callOf(item) }))
      const outcomes = await asker.takeAll(asked.map(({ call }) => call))
      for (const { item, call } of asked) {
        const outcome = outcomes.find(({ toolCallId }) => toolCallId === call.id)
        if (outcome?.approved) state.approve(item)
        else if (outcome && outcome.status !== 'open') state.reject(item, { message: outcome.reason })
      }
      return outcomes
    },
    guardrail: {
      type: 'tool_input',
      name: 'sallyport approvals',
      async run({ toolCall }) {
        const call = { id: toolCall.callId, name: toolCall.name, args: argsIn(toolCall.arguments) }
        const asked = await asker.ask(call)
        if (!asked) return { behavior: { type: 'allow' } }
        const { approvalId, approved, reason } = await asker.take(call, asked)
        const isDone = started.has(approvalId)
        if (approved) started.add(approvalId)
        if (approved && !isDone) return { behavior: { type: 'allow' } }
        return { behavior: { type: 'rejectContent', message: isDone ? 'This call has been done before.' : reason } }
      },
    },
  }
}

/** Members of a call that are no part of its action. */
const NO_ARGS: readonly string[] = ['type', 'id', 'callId', 'status', 'name', 'providerData', 'caller', 'namespace']

function callOf({ name, rawItem }: OpenAiApprovalItem): AgentToolCall {
  const item = untypedMembers(rawItem)
  // The call of a tool of a hosted MCP server.
  const hosted = untypedMembers(item.providerData)
  const id = item.callId ?? item.id ?? hosted.id
  if (typeof id !== 'string') throw new TypeError('the interruption has no id of a call')
  if (rawItem.type === 'hosted_tool_call' && typeof hosted.name === 'string') {
    return { id, name: `${hosted.server_label}/${hosted.name}`, args: argsIn(hosted.arguments) }
  }
  const args = item.arguments === undefined ? argsOf(without(item, NO_ARGS)) : argsIn(item.arguments)
  return { id, name: String(item.name ?? name ?? rawItem.type), args }
}

function without(members: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

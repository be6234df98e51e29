import type { ApprovalAction, ApprovalView } from '../../model/approval.ts'
import type { ApprovalMethods } from '../../model/approval-calls.ts'
import { fn } from '../../options/checks.ts'
import { type Checks, required } from '../../options/read-options.ts'
import { untypedMembers } from '../untyped.ts'
import { type AgentAnswerOptions, ANSWER_OPTIONS, type ApprovalOutcome, askerOf } from './asking.ts'

/** The used part of `inputRequired` of `@modelcontextprotocol/server`. */
export interface McpInputRequired<Result> {
  (spec: { readonly requestState: string; readonly inputRequests?: { readonly [key: string]: never } }): Result
  elicitUrl(params: { readonly message: string; readonly url: string }): object
}

/** The used part of the context that a tool gets. */
export interface McpToolContext {
  readonly mcpReq: {
    readonly envelope?: object | undefined
    readonly signal?: AbortSignal | undefined
    requestState(): unknown
  }
}

/** Options of {@link mcpApprovals}. `waitMs` is the longest wait of one request, by default 20,000; `once` is by default `true`. */
export interface McpApprovalOptions<Result> extends AgentAnswerOptions {
  /** `inputRequired` of `@modelcontextprotocol/server`. */
  readonly inputRequired: McpInputRequired<Result>
  /**
   * The user of the client, whom the server has proved, and a page on which that user can answer. The client shows the page if it can, and if the
   * user is an approver. Default: the links of the messages alone.
   */
  readonly page?: ((asked: ApprovalView) => { readonly user: string; readonly url: string } | undefined) | undefined
  /** Makes the `requestState` that the `requestState.verify` of the server reads. Default: the id of the call as it is. */
  readonly mint?: ((callId: string) => string | Promise<string>) | undefined
}

/** A tool's result that tells the model why the action was not done. */
export interface McpRefusal {
  [member: string]: unknown
  isError: true
  content: { type: 'text'; text: string }[]
}

/** The next step of a tool: it returns `result` if there is one, and otherwise does the action. */
export interface McpApproval<Result> {
  readonly result?: Result | McpRefusal
  /** Absent: the action needs no approval, or nobody has answered yet. */
  readonly outcome?: ApprovalOutcome
}

/** Approvals for the tools of an MCP server. */
export interface McpApprovals<Result> {
  /**
   * Asks people about a call of a tool, and takes the accepted action. Until somebody has answered, the result is `input_required`, and the client
   * calls the tool again. Then the store is asked, never what the client sends.
   */
  ask(action: ApprovalAction, context: McpToolContext): Promise<McpApproval<Result>>
}

const MCP: Checks<McpApprovalOptions<unknown>> = {
  ...ANSWER_OPTIONS,
  inputRequired: required(fn),
  page: fn,
  mint: fn,
}

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/**
 * Lets tools of an MCP server (2026-07-28) ask people for approval.
 *
 * The call id, which `requestState` carries, comes back from the client, which could send it again after the action was done: so an action is
 * taken once, and after a crash people are asked again. `once: false` is for tools that may be called again.
 *
 * @param approvals `sallyport.approvals`, or `createApprovalClient(…)`.
 *
 * @example
 * ```ts
 * const approvals = mcpApprovals(client, { sessionId: userId, runId: userId, eventType: 'refund.approval', inputRequired })
 * server.registerTool('refund', { inputSchema }, async (args, context) => {
 *   const { result } = await approvals.ask({ name: 'refund', args }, context)
 *   return result ?? { content: [{ type: 'text', text: await refund(args) }] }
 * })
 * ```
 *
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function mcpApprovals<Result>(
  approvals: ApprovalMethods,
  options: McpApprovalOptions<Result>,
): McpApprovals<Result> {
  const asker = askerOf('mcpApprovals', approvals, options, MCP, { once: true, waitMs: 20_000 })
  const { inputRequired, page, mint = (callId: string) => callId } = options

  function shown(asked: ApprovalView, { mcpReq }: McpToolContext): { readonly approval: never } | undefined {
    const { elicitation } = untypedMembers(untypedMembers(mcpReq.envelope)[CAPABILITIES])
    const own = untypedMembers(elicitation).url === undefined ? undefined : page?.(asked)
    if (!own || !asked.approvers.includes(own.user)) return undefined
    const { message = '' } = asked
    // The type of the request is that of the SDK.
    return { approval: inputRequired.elicitUrl({ message, url: own.url }) as never }
  }

  return {
    async ask(action, context) {
      const state = context.mcpReq.requestState()
      const isFirst = typeof state !== 'string'
      const call = { ...action, id: isFirst ? crypto.randomUUID() : state }
      const asked = await asker.ask(call)
      if (!asked) return {}
      const inputRequests = isFirst ? shown(asked, context) : undefined
      const outcome = isFirst ? undefined : await asker.take(call, asked, context.mcpReq.signal)
      if (!outcome || outcome.status === 'open') {
        return { result: inputRequired({ requestState: await mint(call.id), ...(inputRequests && { inputRequests }) }) }
      }
      if (outcome.approved) return { outcome }
      return { result: { isError: true, content: [{ type: 'text', text: outcome.reason }] }, outcome }
    },
  }
}

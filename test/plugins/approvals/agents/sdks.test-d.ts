import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import { interrupt, type StateSnapshot } from '@langchain/langgraph'
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type RunState, tool } from '@openai/agents'
import { generateText, type LanguageModel, streamText, ToolLoopAgent, type ToolModelMessage, type ToolSet } from 'ai7'
import type { ApprovalClient } from 'sallyport/client/approvals'
import {
  type AgentApprovalOptions,
  type AgUiInterrupt,
  type AgUiResumeEntry,
  type AiSdkApprovalResponse,
  type ApprovalMethods,
  agUiApprovals,
  aiSdkApprovals,
  type LangGraphThread,
  langGraphApprovals,
  mcpApprovals,
  openAiAgentsApprovals,
} from 'sallyport/integrations/approvals'
import type { Approvals } from 'sallyport/plugins'
import { expectTypeOf, test } from 'vitest'
import * as z from 'zod'

declare const approvals: ApprovalMethods
declare const options: AgentApprovalOptions
declare const model: LanguageModel
declare const tools: ToolSet

test('The methods of a host and of a client are those that the adapters take', () => {
  expectTypeOf<Approvals>().toExtend<ApprovalMethods>()
  expectTypeOf<ApprovalClient>().toExtend<ApprovalMethods>()
})

test('The AI SDK takes toolApproval and responses', () => {
  const { toolApproval } = aiSdkApprovals(approvals, options)
  generateText({ model, tools, toolApproval, prompt: 'x' })
  streamText({ model, tools, toolApproval, prompt: 'x' })
  new ToolLoopAgent({ model, tools, toolApproval })
  expectTypeOf<AiSdkApprovalResponse[]>().toExtend<ToolModelMessage['content']>()
  // @ts-expect-error: the event is required
  aiSdkApprovals(approvals, { sessionId: 's1', runId: 'r1' })
})

test('The OpenAI Agents SDK takes the guardrail, and its states are decided', () => {
  const { decide, guardrail } = openAiAgentsApprovals(approvals, options)
  tool({ name: 'x', description: 'x', parameters: z.object({}), inputGuardrails: [guardrail], execute: () => '' })
  expectTypeOf(decide).toBeCallableWith({ state: {} as RunState<unknown, never>, interruptions: [] })
})

test('LangGraph gives interrupt and its threads', () => {
  langGraphApprovals(approvals, { ...options, interrupt })
  expectTypeOf<StateSnapshot>().toExtend<LangGraphThread>()
})

test('A tool of MCP gives its context and returns the results', () => {
  const { ask } = mcpApprovals(approvals, { ...options, inputRequired })
  expectTypeOf<ServerContext>().toExtend<Parameters<typeof ask>[1]>()
  type Result = NonNullable<Awaited<ReturnType<typeof ask>>['result']>
  expectTypeOf<Result>().toExtend<CallToolResult | InputRequiredResult>()
})

test('AG-UI takes the interrupts and the entries', () => {
  agUiApprovals(approvals, options)
  expectTypeOf<AgUiInterrupt>().toExtend<Interrupt>()
  expectTypeOf<AgUiResumeEntry>().toExtend<ResumeEntry>()
})

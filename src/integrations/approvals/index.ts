/**
 * Lets agents of the AI SDK, the OpenAI Agents SDK, LangGraph, MCP and AG-UI ask people for approval. Loads none of these libraries.
 * @module sallyport/integrations/approvals
 */
export type { ApprovalMethods, ApprovalWaitOf } from '../../model/approval-calls.ts'
export {
  type AgUiApprovals,
  type AgUiInterrupt,
  type AgUiResumeEntry,
  type AgUiToolCall,
  agUiApprovals,
} from './ag-ui.ts'
export {
  type AiSdkApprovalCall,
  type AiSdkApprovalResponse,
  type AiSdkApprovalStatus,
  type AiSdkApprovals,
  aiSdkApprovals,
} from './ai-sdk.ts'
export type {
  AgentAnswerOptions,
  AgentApprovalOptions,
  AgentToolCall,
  ApprovalOutcome,
} from './asking.ts'
export {
  type LangGraphApprovalOptions,
  type LangGraphApprovals,
  type LangGraphInterrupt,
  type LangGraphQuestion,
  type LangGraphThread,
  langGraphApprovals,
} from './lang-graph.ts'
export {
  type McpApproval,
  type McpApprovalOptions,
  type McpApprovals,
  type McpInputRequired,
  type McpRefusal,
  type McpToolContext,
  mcpApprovals,
} from './mcp.ts'
export {
  type OpenAiAgentsApprovals,
  type OpenAiApprovalGuardrail,
  type OpenAiApprovalItem,
  type OpenAiInterruptedRun,
  openAiAgentsApprovals,
} from './openai-agents.ts'

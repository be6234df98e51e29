/**
 * Records runs of the AI SDK, the OpenAI Agents SDK, LangChain and LangGraph, the Claude Agent SDK, and the clients of OpenAI, Anthropic
 * and Google in one line each. Loads none of these libraries.
 * @module sallyport/integrations
 */
export {
  type AgentsProcessor,
  type AgentsSpan,
  type AgentsTrace,
  agentsSdk,
  type StartOfTrace,
} from './agents-sdk.ts'
export {
  type AiSdkIntegration,
  type AiSdkSettings,
  type AnswerOfModel,
  aiSdk,
  type PartOfAnswer,
  type RecordableModel,
} from './ai-sdk.ts'
export { type ClaudeMessages, claudeQuery } from './claude-query.ts'
export {
  type LangChainCallbacks,
  type LangChainStart,
  langchainCallbacks,
  type OnLangChainEnd,
  type OnLangChainModelStart,
  type OnLangChainStart,
  type StartOfLangChain,
} from './langchain.ts'
export { type RecordingFetchOptions, recordingFetch } from './recording-fetch.ts'

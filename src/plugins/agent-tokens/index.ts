export { type AgentTokensApi, agentTokens } from './agent-tokens.ts'
export type { TokenUseListOptions, TokenUsePruneOptions, TokenUses } from './token-uses.ts'

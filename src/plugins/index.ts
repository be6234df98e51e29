/**
 * Plugins: features of a host, one by one. Given to `createSallyport` as `plugins`.
 * @module sallyport/plugins
 */

export type { CausedBy } from '../core/dispatch/caller.ts'
export type { RunChange, Signal, SignalPublisher } from '../core/runs/signal-outbox.ts'
export { type AgentTokensApi, agentTokens } from './agent-tokens/agent-tokens.ts'
export type { TokenUseListOptions, TokenUsePruneOptions, TokenUses } from './agent-tokens/token-uses.ts'
export { type AlertsApi, alerts } from './alerts/alerts.ts'
export type { Budget, BudgetQuestion } from './alerts/budgets.ts'
export type { AlertOptions } from './alerts/check-options.ts'
export type { Budgets } from './alerts/read-budgets.ts'
export type { BudgetEventFacts, RunEvent, RunEventFacts, RunEvents, RunEventTarget } from './alerts/run-events.ts'
export type { Plugin, PluginApis, PluginCore, PluginLife, PluginListeners, PluginParts, RequestEnd } from './plugin.ts'
export type { ReadStatistics, StatisticsOptions } from './statistics/read-statistics.ts'
export { type StatisticsApi, statistics } from './statistics/statistics.ts'

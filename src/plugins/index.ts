/**
 * Plugins: features of a host, one by one. Given to `createSallyport` as `plugins`.
 * @module sallyport/plugins
 */

export { actionsOf, type CallAction } from '../core/actions/call-action.ts'
export type { ParameterKind } from '../core/actions/call-input.ts'
export type { CausedBy } from '../core/dispatch/caller.ts'
export type { SignedLinks } from '../core/links/signed-links.ts'
export type { RunChange, Signal, SignalPublisher } from '../core/runs/signal-outbox.ts'
export type { Shown } from '../services/plugin-data.ts'
export { type AgentTokensApi, agentTokens } from './agent-tokens/agent-tokens.ts'
export type { TokenUseListOptions, TokenUsePruneOptions, TokenUses } from './agent-tokens/token-uses.ts'
export { type AlertsApi, alerts } from './alerts/alerts.ts'
export type { Budget, BudgetQuestion } from './alerts/budgets.ts'
export type { AlertOptions } from './alerts/check-options.ts'
export type { Budgets } from './alerts/read-budgets.ts'
export type { BudgetEventFacts, RunEvent, RunEventFacts, RunEvents, RunEventTarget } from './alerts/run-events.ts'
export type { ConsentOptions } from './consent/check-options.ts'
export { type ConsentApi, consent } from './consent/consent.ts'
export type { Preferences } from './consent/preferences.ts'
export type { ProfileOptions, RecipientProfiles } from './consent/recipient-profile.ts'
export type {
  AddSuppression,
  ImportedSuppressions,
  ImportSuppressionsOptions,
  SuppressionListOptions,
  Suppressions,
  SuppressionsOfAddress,
} from './consent/suppressions.ts'
export type { LocalText, UnsubscribePageOptions } from './consent/unsubscribe/unsubscribe-page-options.ts'
export type { UnsubscribeTexts } from './consent/unsubscribe/unsubscribe-texts.ts'
export type { KindRecords, RecordKind, RecordListOptions } from './kind-records.ts'
export type {
  Plugin,
  PluginApis,
  PluginCommit,
  PluginCore,
  PluginDispatchOptions,
  PluginLife,
  PluginListeners,
  PluginParts,
  PluginRecipient,
  PluginView,
  PreparedDispatch,
  RequestEnd,
} from './plugin.ts'
export type { ReadStatistics, StatisticsOptions } from './statistics/read-statistics.ts'
export { type StatisticsApi, statistics } from './statistics/statistics.ts'

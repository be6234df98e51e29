/**
 * Plugins: features of a host, one by one. Given to `createSallyport` as `plugins`.
 * @module sallyport/plugins
 */

export { type ActionCaller, actionsOf, type CallAction } from '../core/actions/call-action.ts'
export type { ParameterKind } from '../core/actions/call-input.ts'
export type { CausedBy } from '../core/dispatch/caller.ts'
export type { SignedLinks } from '../core/links/signed-links.ts'
export type { TimelineList, TimelineMoment, TimelineQuery } from '../core/runs/sessions/timeline.ts'
export type { RunChange, Signal, SignalPublisher } from '../core/runs/signal-outbox.ts'
export type { Measurement } from '../model/measurement.ts'
export type { Shown } from '../services/plugin-data.ts'
export { type KindRecords, type RecordKind, type RecordListOptions, recordsOf } from './kind-records.ts'
export type {
  Plugin,
  PluginApis,
  PluginCommit,
  PluginCore,
  PluginDispatchOptions,
  PluginLife,
  PluginListeners,
  PluginParts,
  PluginPlanOptions,
  PluginRecipient,
  PluginSession,
  PluginView,
  PreparedDispatch,
  RequestEnd,
} from './plugin.ts'

// `npm run entries` writes these lines from the folders.

export * from './agent-tokens/index.ts'
export * from './alerts/index.ts'
export * from './approvals/index.ts'
export * from './consent/index.ts'
export * from './statistics/index.ts'

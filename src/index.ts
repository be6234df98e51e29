/**
 * Creates a Sallyport: `createSallyport`, the event catalogue, the handlers as functions over ports, and the types of ports and
 * models.
 *
 * @module sallyport
 */

export {
  createRunsOnlySallyport,
  createSallyport,
  type RecordingMembers,
  type RunsOnlySallyport,
  type Sallyport,
} from './compose/create-sallyport.ts'
export {
  handleDispatchWithDefaults as handleDispatch,
  handleSessionRunBatchWithDefaults as handleSessionRunBatch,
  handleSessionRunWithDefaults as handleSessionRun,
  type RuntimePorts,
} from './compose/defaults.ts'
export type {
  HashKey,
  LinkOptions,
  RunsOnlyOptions,
  SallyportOptions,
} from './compose/options.ts'
export type { OutboundMembers } from './compose/outbound.ts'
export type { LineLimiter } from './core/answers/line-limiter.ts'
export type {
  ErrorContext,
  ErrorDetails,
  ErrorHooks,
  ErrorOperation,
  FaultDeps,
  FaultLine,
} from './core/answers/report-fault.ts'
export type { HandlerRequest, HandlerResult, Refused } from './core/answers/result.ts'
export type { RunDueResult, StopOptions, Worker } from './core/delivery/worker.ts'
export type { BreakerOptions, ChannelLimits, WorkerOptions } from './core/delivery/worker-options.ts'
export { defineEvents } from './core/dispatch/catalog/define-events.ts'
export type {
  ChannelDefinition,
  ConditionDefinition,
  DigestDefinition,
  EventDefinition,
  EventEngines,
  InputOf,
  LocaleDefinitions,
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
  TemplateDefinition,
} from './core/dispatch/catalog/event-definition.ts'
export type { DispatchDeps } from './core/dispatch/handle-dispatch.ts'
export type { PlanningDeps } from './core/dispatch/plan/plan-request.ts'
export type {
  Action,
  ActionCall,
  ActionRoute,
  Endpoints,
  OpenAction,
  OpenAnswer,
  OpenEndpoint,
  OpenHandler,
  OpenHead,
  OpenRequest,
} from './core/endpoints.ts'
export type { AcceptedEvent, DeliveryEvent, Hook, Hooks } from './core/hooks.ts'
export type { SignedLinks } from './core/links/signed-links.ts'
export type { Admission } from './core/load/admission.ts'
export type { Caller, FairShares, Holder } from './core/load/fair-shares.ts'
export type { Load } from './core/load/load-limits.ts'
export type { BodyHolder, UnfinishedBodies, UnfinishedBody } from './core/load/unfinished-bodies.ts'
export { mergeRun, type RunMerge } from './core/runs/merge/merge-run.ts'
export type { SessionRunDeps } from './core/runs/record-deps.ts'
export {
  type ConfigProblem,
  type FaultCode,
  type Issue,
  type IssueCode,
  isSallyportError,
  type Problem,
  type ProblemCode,
  SallyportError,
  type SallyportErrorDetails,
} from './errors.ts'
export type {
  AnswerContent,
  AnswerField,
  AnswerProof,
  AnswerSchema,
  ApprovalAction,
  ApprovalAnswer,
  ApprovalStatus,
  ApprovalView,
  ChoiceField,
  ChoicesField,
  FlagField,
  NumberField,
  RunApproval,
  TextField,
} from './model/approval.ts'
export type {
  AnswerRequest,
  ApprovalOf,
  ApprovalRequest,
  ApprovalResult,
  ConsumedApproval,
  ConsumeRequest,
} from './model/approval-calls.ts'
export type { Attempt, AttemptEnd, AttemptView, ProviderEnd } from './model/attempt.ts'
export type { BudgetLimit, BudgetReport, BudgetState } from './model/budget.ts'
export type {
  ConditionTrace,
  Content,
  Delivery,
  DeliveryReason,
  DeliveryStatus,
  DeliveryView,
  Digest,
  DigestedEvent,
  Dispatch,
  DispatchAnswer,
  DispatchHead,
  DispatchInput,
  DispatchPreview,
  DispatchRequest,
  DispatchStatus,
  DispatchView,
  EventTypeOf,
  FallbackCause,
  PreviewedDelivery,
  Priority,
  Route,
  Warning,
} from './model/dispatch.ts'
export type { CancelResult, DeliveryChange, RetryResult, UnplannedDelivery } from './model/dispatch-results.ts'
export type { EventChannelView, EventView } from './model/event-view.ts'
export type { Feedback, FeedbackKind, FeedbackView } from './model/feedback.ts'
export type { JsonObject, JsonValue } from './model/json.ts'
export type {
  AcceptedMeasurement,
  AddedAmounts,
  DeliveryMeasurement,
  Measure,
  Measurement,
  RunMeasurement,
} from './model/measurement.ts'
export type { PreferenceSet } from './model/preference-set.ts'
export type { ApprovalGrant, DispatchGrant, Operation, ParentToken, Principal } from './model/principal.ts'
export type { Recipient } from './model/recipient.ts'
export type { RecipientKey } from './model/recipient-key.ts'
export type { RecipientAddress, RecipientProfile } from './model/recipient-profile.ts'
export type {
  AnsweredRun,
  DerivedRunData,
  EndStatus,
  FinalFields,
  ModelUsage,
  ReportedEnd,
  Run,
  RunAgent,
  RunCost,
  RunCounts,
  RunError,
  RunEventLimit,
  RunFailure,
  RunReport,
  RunSource,
  RunState,
  RunStatus,
  RunTimings,
  RunUpdate,
  StatusReport,
  WaitingFor,
} from './model/run.ts'
export type {
  RecordedPost,
  RefusedPost,
  SessionRunBatchAnswer,
  SessionRunBatchRequest,
} from './model/run-batch.ts'
export { facetsOf, type RunFacets } from './model/run-facets.ts'
export type { RunFilter } from './model/run-filter.ts'
export type {
  IgnoredField,
  InstantInput,
  RunAnswer,
  RunPost,
  SessionRunRequest,
} from './model/run-post.ts'
export type {
  Amounts,
  Money,
  Percentiles,
  RunNode,
  Session,
  SessionShare,
  SessionSummary,
  SessionTime,
  SessionTotals,
  TimelineEntry,
  Unpriced,
} from './model/session.ts'
export type { DueNow, Latency, Statistics, StatisticsBucket } from './model/statistics.ts'
export type {
  RefusedAddress,
  SuppressedEvent,
  Suppression,
  SuppressionReason,
  SuppressionScope,
  SuppressionView,
} from './model/suppression.ts'
export type { TokenExchange, TokenExchangeAnswer, TokenGrants } from './model/token-exchange.ts'
export type { TokenOperation, TokenUse, TokenUseView } from './model/token-use.ts'
export type { ModelTotals, SourceTotals, Spend, Totals } from './model/totals.ts'
export type { UnsentReason } from './model/unsent-reason.ts'
export type { DeliveryWaiting, StoredWait, WaitCause } from './model/waiting.ts'
export type { AuthVerifier, ExchangedToken, NarrowedToken, Refusal } from './ports/auth-verifier.ts'
export type { Channel, MessageLinks, OutboundMessage, SendContext, SendOutcome } from './ports/channel.ts'
export type { Clock } from './ports/clock.ts'
export type {
  CompiledCondition,
  ConditionEngine,
  ConditionFacts,
  ConditionFault,
  ConditionRead,
  Decision,
} from './ports/condition-engine.ts'
export type { DeliveryPolicy, PolicyNames, PolicyQuestion, SendLimit, Verdict } from './ports/delivery-policy.ts'
export type { DeliveryQueue, QueueListener } from './ports/delivery-queue.ts'
export type { AnswerErasure, DispatchData, DispatchErasureStore, ErasedDispatches } from './ports/dispatch-erasure.ts'
export type { DispatchQuery, Page } from './ports/dispatch-query.ts'
export type { DispatchRemoval } from './ports/dispatch-removal.ts'
export type {
  Acceptance,
  AcceptOutcome,
  BusyReceiver,
  ClaimedDelivery,
  ClaimRequest,
  Claims,
  DispatchChange,
  DispatchStore,
  LeaseToken,
  NewDelivery,
  NewDigest,
  NewDispatch,
  ReplanOutcome,
  RetryRequest,
  Settled,
  Settlement,
  StoredAnswer,
} from './ports/dispatch-store.ts'
export type { DueCount, DueQuery } from './ports/due-query.ts'
export type {
  CatalogChannel,
  CatalogDigest,
  CatalogEvent,
  DataOutcome,
  DigestKey,
  EventCatalog,
  EventFacts,
  FieldRendering,
  LinkRead,
} from './ports/event-catalog.ts'
export type { FactPath } from './ports/fact-path.ts'
export type {
  FeedbackEvent,
  FeedbackHead,
  FeedbackReceipt,
  FeedbackRequest,
  FeedbackSource,
} from './ports/feedback-source.ts'
export type { IdGenerator } from './ports/id-generator.ts'
export type { LinkMaker, LinkMakers, LinkTarget } from './ports/link-maker.ts'
export type { GivenLogger, LevelLogger, LogFields, Logger } from './ports/logger.ts'
export type { GuardedMessage, MessageGuard, Objection } from './ports/message-guard.ts'
export type { PlanSource, Replannable } from './ports/plan-source.ts'
export type { Price, PriceBook, PricedUsage, UnpricedPart } from './ports/price-book.ts'
export type { RateLimiter, RateLimitState, RateLimitSubject } from './ports/rate-limiter.ts'
export type { RecipientDirectory } from './ports/recipient-directory.ts'
export type {
  CommitOutcome,
  CommitUnit,
  NewPluginRecord,
  PluginRecord,
  RecordChange,
  RecordDraft,
  RecordName,
  RecordQuery,
  RecordRemoval,
  RecordSearch,
  RecordStore,
  RecordText,
  RefusedAcceptance,
} from './ports/record-store.ts'
export type { Redactor } from './ports/redactor.ts'
export type { NewRevocation, Revocation, RevocationStore, RevokedTokens } from './ports/revocation-store.ts'
export type { EndedRun, RunExporter } from './ports/run-exporter.ts'
export type {
  MergeDecision,
  Merged,
  MergeKey,
  MergeSnapshot,
  RemovalQuery,
  RunAncestor,
  RunKey,
  RunQuery,
  RunStore,
  StoredRun,
  StoredSession,
  TotalsChanges,
} from './ports/run-store.ts'
export type { SallyportStore } from './ports/sallyport-store.ts'
export type { SessionQuery } from './ports/session-query.ts'
export type {
  CompiledTemplate,
  Rendering,
  TemplateEngine,
  TemplateFacts,
  TemplateFault,
  TemplateRead,
} from './ports/template-engine.ts'
export type { TenantScope } from './services/call-checks.ts'
export type { DispatchCallOptions } from './services/dispatch.ts'
export type {
  Dispatches,
  DispatchGetOptions,
  DispatchListOptions,
  DispatchPruneOptions,
  RetryOptions,
} from './services/dispatches.ts'
export type { ListOptions, PageOptions } from './services/pagination.ts'
export type { RecipientData, RecipientErasure, RecipientOptions } from './services/recipient-data.ts'
export type { ExportedDelivery, ExportedDispatch, RecipientExport } from './services/recipient-export.ts'
export type { PruneOptions, RunExportOptions, RunListOptions, Runs, SweepOptions } from './services/runs.ts'
export type { SessionListOptions, Sessions } from './services/sessions.ts'
export type { Tokens } from './services/tokens.ts'

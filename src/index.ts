export { defineEvents } from './core/catalog/define-events.ts'
export type {
  ChannelDefinition,
  ConditionDefinition,
  DigestDefinition,
  EventDefinition,
  EventEngines,
  LocaleDefinitions,
  TemplateDefinition,
} from './core/catalog/event-definition.ts'
export type {
  InputOf,
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './core/catalog/standard-schema.ts'
export type { RunDueResult, StopOptions, Worker } from './core/delivery/worker.ts'
export type { ChannelLimits, WorkerOptions } from './core/delivery/worker-options.ts'
export type { DispatchDeps } from './core/dispatch/handle-dispatch.ts'
export type { AcceptedEvent, DeliveryEvent, Hook, Hooks } from './core/dispatch/hooks.ts'
export type { PlanningDeps } from './core/dispatch/plan-request.ts'
export type { DispatchPreview, PreviewedDelivery } from './core/dispatch/preview-dispatch.ts'
export type { Endpoints } from './core/endpoints.ts'
export type { HandlerRequest, HandlerResult, Refused } from './core/result.ts'
export type { SessionRunDeps } from './core/runs/handle-session-run.ts'
export { mergeRun, type RunMerge } from './core/runs/merge-run.ts'
export { handleDispatch, handleSessionRun, type RuntimePorts } from './defaults.ts'
export type {
  CancelResult,
  Dispatches,
  DispatchListOptions,
  RetryOptions,
  RetryResult,
} from './dispatches.ts'
export {
  type ConfigProblem,
  type FaultCode,
  type Issue,
  type IssueCode,
  isSallyportError,
  type Problem,
  type ProblemCode,
  SallyportError,
} from './errors.ts'
export type {
  Attempt,
  AttemptEnd,
  AttemptView,
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
  DispatchRequest,
  DispatchStatus,
  DispatchView,
  Route,
  Warning,
} from './model/dispatch.ts'
export type { JsonObject, JsonValue } from './model/json.ts'
export type { DispatchGrant, Operation, Principal } from './model/principal.ts'
export type { Recipient } from './model/recipient.ts'
export type {
  IgnoredField,
  InstantInput,
  ModelUsage,
  Run,
  RunAgent,
  RunAnswer,
  RunCost,
  RunCounts,
  RunError,
  RunPost,
  RunState,
  RunStatus,
  RunTimings,
  RunUpdate,
  Session,
  SessionRunRequest,
  Stamped,
  WaitingFor,
  WithStatus,
} from './model/run.ts'
export type { SallyportOptions } from './options.ts'
export type { ListOptions, TenantScope } from './paging.ts'
export type { AuthVerifier, Refusal } from './ports/auth-verifier.ts'
export type { Channel, OutboundMessage, SendContext, SendOutcome } from './ports/channel.ts'
export type { Clock } from './ports/clock.ts'
export type {
  CompiledCondition,
  ConditionEngine,
  ConditionFacts,
  ConditionFault,
  Decision,
} from './ports/condition-engine.ts'
export type { DeliveryPolicy, PolicyNames, PolicyQuestion, SendLimit, Verdict } from './ports/delivery-policy.ts'
export type { DeliveryQueue } from './ports/delivery-queue.ts'
export type {
  Acceptance,
  AcceptOutcome,
  ClaimedDelivery,
  ClaimRequest,
  Claims,
  DeliveryChange,
  DispatchChange,
  DispatchQuery,
  DispatchStore,
  LeaseProof,
  NewDelivery,
  NewDigest,
  NewDispatch,
  Page,
  Remembered,
  Settled,
  Settlement,
} from './ports/dispatch-store.ts'
export type {
  CatalogChannel,
  CatalogDigest,
  CatalogEvent,
  DataOutcome,
  EventCatalog,
  EventFacts,
  FieldRendering,
} from './ports/event-catalog.ts'
export type { IdGenerator } from './ports/id-generator.ts'
export type { LogFields, Logger } from './ports/logger.ts'
export type { RecipientDirectory } from './ports/recipient-directory.ts'
export type {
  MergeDecision,
  Merged,
  MergeSight,
  RunQuery,
  RunStore,
  StoredRun,
  StoredSession,
} from './ports/run-store.ts'
export type {
  CompiledTemplate,
  Rendering,
  TemplateEngine,
  TemplateFacts,
  TemplateFault,
} from './ports/template-engine.ts'
export {
  createSallyport,
  type DispatchCallOptions,
  type DispatchInput,
  type Sallyport,
} from './sallyport.ts'

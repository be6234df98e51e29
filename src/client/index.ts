/**
 * Clients of the endpoints over `fetch`, for servers, browsers and workers.
 * @module sallyport/client
 */
export type { ApprovalMethods, ApprovalWaitOf } from '../model/approval-calls.ts'
export type { CallOptions, ClientOptions, FetchLike } from './caller.ts'
export { type Client, createClient, type DispatchOptions, type EventsOf } from './client.ts'
export { ClientError, isClientError } from './client-error.ts'
export type { AsyncDisposing, Disposing, RecordedRun, RunEnd, RunFacts, RunQuestion, RunStart } from './recorded-run.ts'
export { createRunRecorder, type RunRecorder } from './run-recorder.ts'
export type { ProcessLike, RunRecorderOptions } from './run-recorder-options.ts'

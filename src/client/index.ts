/**
 * Callers of the endpoints, over `fetch` alone: for servers, browsers, workers.
 *
 * @module sallyport/client
 */
export { type Client, createClient, type EventsOf } from './client.ts'
export { ClientError, isClientError } from './client-error.ts'
export type { CallOptions, ClientOptions, DispatchOptions, FetchLike } from './client-options.ts'
export type { AsyncDisposing, Disposing } from './disposal.ts'
export type { RecordedRun, RunEnd, RunFacts, RunStart } from './recorded-run.ts'
export { createRunRecorder, type RunRecorder } from './run-recorder.ts'
export type { ProcessLike, RunRecorderOptions } from './run-recorder-options.ts'

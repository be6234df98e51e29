/**
 * Callers of the endpoints, over `fetch` alone: for servers, browsers, workers.
 *
 * @module sallyport/client
 */
export { type Client, createClient, type EventsOf } from './client/client.ts'
export { ClientError, isClientError } from './client/client-error.ts'
export type { CallOptions, ClientOptions, DispatchOptions, FetchLike } from './client/client-options.ts'
export type { AsyncDisposing, Disposing } from './client/disposal.ts'
export type { RecordedRun, RunEnd, RunFacts, RunStart } from './client/recorded-run.ts'
export { createRunRecorder, type RunRecorder } from './client/run-recorder.ts'
export type { ProcessLike, RunRecorderOptions } from './client/run-recorder-options.ts'

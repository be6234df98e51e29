import type { DispatchAnswer, DispatchInput, DispatchPreview } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'
import type { SessionRunBatchAnswer } from '../model/run-batch.ts'
import type { RunAnswer, SessionRunRequest } from '../model/run-post.ts'
import { fn, like, matching, whole } from '../options/checks.ts'
import { type Checks, required } from '../options/read-options.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import { attempt } from './attempt.ts'
import { checkOptions } from './check-options.ts'
import { ClientError } from './client-error.ts'
import type { CallOptions, ClientOptions, DispatchOptions } from './client-options.ts'
import { retrying } from './retrying.ts'
import { withTimeout } from './time-out.ts'

/** The events of a catalogue, each with its data; any event where the catalogue is not known. */
export type EventsOf<Catalog> =
  Catalog extends EventCatalog<infer Events>
    ? unknown extends Events
      ? Record<string, JsonObject>
      : Events
    : Record<string, JsonObject>

/**
 * Calls the endpoints of a Sallyport. Every method rejects with a {@link ClientError}, with the reason of its signal, with what the
 * token function threw, or with a TypeError where what it is to send cannot be JSON.
 */
export interface Client<Events = Record<string, JsonObject>> {
  /** Has an event delivered. Repeated under one `Idempotency-Key`, so that it is dispatched once. */
  dispatch<Type extends keyof Events & string>(
    event: DispatchInput<Events, Type>,
    options?: DispatchOptions,
  ): Promise<DispatchAnswer>
  /** Tells what would become of an event; nothing is stored, nothing sent. */
  preview<Type extends keyof Events & string>(
    event: DispatchInput<Events, Type>,
    options?: CallOptions,
  ): Promise<DispatchPreview>
  /** Tells what is known of a run. */
  recordRun(post: SessionRunRequest, options?: CallOptions): Promise<RunAnswer>
  /** Tells of many runs at once: 1 to 100 posts, each answered by itself, and with no `run` in the answer. */
  recordRuns(posts: readonly SessionRunRequest[], options?: CallOptions): Promise<SessionRunBatchAnswer>
}

/**
 * Makes a client, typed by a catalogue: `createClient<typeof events>({ baseUrl, token })`, where `events` may be imported as a type.
 *
 * An attempt that was not answered in time or at all, or with 408, 429, 502, 503 or 504, is followed by another one, after a random
 * wait that doubles from half a second and at least what `Retry-After` asks for; more than 30 seconds of that are left to the caller.
 *
 * @throws {ClientError} `option_invalid`, with all that is wrong with the options.
 */
export function createClient<Catalog = unknown>(options: ClientOptions): Client<EventsOf<Catalog>> {
  checkOptions('createClient', options, CHECKS)
  const { baseUrl, token, fetch: own, retries = 2, timeoutMs = 10_000 } = options
  // No password, which the cause of an error would show.
  const api = `${baseUrl}`.replace(/\/?$/, '/api/').replace(/\/\/[^/]*@/, '//')
  const call = async <Answer>(path: string, content: unknown, options: DispatchOptions = {}): Promise<Answer> => {
    checkOptions(path, options, CALL_CHECKS)
    const { signal, idempotencyKey } = options
    const body = JSON.stringify(content)
    const headers = {
      'content-type': 'application/json',
      ...(path === DISPATCH && { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() }),
      ...(path === BATCH && { prefer: 'return=minimal' }),
    }
    const ask = (stop: AbortSignal): Promise<Answer> =>
      attempt((authorization) => {
        const init = { method: 'POST', headers: { ...headers, authorization }, body, signal: stop } as const
        return (own ?? fetch)(api + path, init)
      }, token)
    const askInTime = (): Promise<Answer> =>
      withTimeout(timeoutMs, signal, ask, new ClientError('timeout', `No answer in ${timeoutMs} ms`))
    return retrying(askInTime, retries, signal)
  }
  return {
    dispatch: (event, options) => call<DispatchAnswer>(DISPATCH, event, options),
    preview: (event, options) => call<DispatchPreview>(`${DISPATCH}?dryRun=true`, event, options),
    recordRun: (run, options) => call<RunAnswer>(RUN, run, options),
    recordRuns: (runs, options) => call<SessionRunBatchAnswer>(BATCH, { runs }, options),
  }
}

const DISPATCH = 'outbound/dispatch'
const RUN = 'agents/session/run'
const BATCH = `${RUN}/batch`

const CHECKS: Checks<ClientOptions> = {
  baseUrl: required(matching((value) => typeof value === 'string' || value instanceof URL, 'must be a URL')),
  token: required(
    matching(
      (value) => (typeof value === 'string' && value !== '') || typeof value === 'function',
      'must be a string or a function',
    ),
  ),
  fetch: fn,
  timeoutMs: whole(1, 2 ** 31 - 1),
  retries: whole(0, 100),
}

const CALL_CHECKS: Checks<DispatchOptions> = {
  signal: matching((value) => value instanceof AbortSignal, 'must be an AbortSignal'),
  idempotencyKey: like(/^[!-~]{1,255}$/, 'must be 1-255 visible ASCII characters'),
}

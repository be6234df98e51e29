import type { Problem } from '../errors.ts'
import type { DispatchAnswer, DispatchInput, DispatchPreview } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'
import type { SessionRunBatchAnswer } from '../model/run-batch.ts'
import type { RunAnswer, SessionRunRequest } from '../model/run-post.ts'
import { withTimeout } from '../model/time-out.ts'
import type { TokenExchange, TokenExchangeAnswer } from '../model/token-exchange.ts'
import { fn, like, matching, whole } from '../options/checks.ts'
import { type Checks, required } from '../options/read-options.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import { checkOptions } from './check-options.ts'
import { ClientError, isClientError } from './client-error.ts'
import { timers } from './timers.ts'

/** The used part of `fetch`. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  json(): Promise<unknown>
}>

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** URL before `/api/…`, with its path: `https://example.com/v1`. A user and a password in it are removed. */
  readonly baseUrl: string | URL
  /** An application secret or a session token, or a function that returns one; it is called for every attempt. */
  readonly token: string | (() => string | Promise<string>)
  /** Default: the `fetch` of the runtime. */
  readonly fetch?: FetchLike
  /** Time-out of one attempt in milliseconds, including the token function and the answer. 1 to 2^31 - 1. Default 10,000. */
  readonly timeoutMs?: number
  /** Attempts after the first, 0 to 100. Default 2. */
  readonly retries?: number
}

/** Options of one call. */
export interface CallOptions {
  /** An abort rejects the call with its reason and stops retries. */
  readonly signal?: AbortSignal | undefined
}

/** Options of one dispatch. */
export interface DispatchOptions extends CallOptions {
  /** 1-255 visible ASCII characters. A second call with the same key gets the first answer. Default: a UUID per call. */
  readonly idempotencyKey?: string
}

/** Events of a catalogue, each with its data; any event if the catalogue is unknown. */
export type EventsOf<Catalog> =
  Catalog extends EventCatalog<infer Events>
    ? unknown extends Events
      ? Record<string, JsonObject>
      : Events
    : Record<string, JsonObject>

/**
 * Calls the endpoints of a Sallyport server. Methods reject with a {@link ClientError}, the reason of the signal, the error of the token
 * function, or a TypeError for content that is not JSON.
 */
export interface Client<Events = Record<string, JsonObject>> {
  /** Dispatches an event. Retries share one `Idempotency-Key`, so that it is dispatched once. */
  dispatch<Type extends keyof Events & string>(
    event: DispatchInput<Events, Type>,
    options?: DispatchOptions,
  ): Promise<DispatchAnswer>
  /** Dry run: returns the planned result of a dispatch. Stores and sends nothing. */
  preview<Type extends keyof Events & string>(
    event: DispatchInput<Events, Type>,
    options?: CallOptions,
  ): Promise<DispatchPreview>
  /** Reports data of one run. */
  recordRun(post: SessionRunRequest, options?: CallOptions): Promise<RunAnswer>
  /** Reports data of many runs: 1 to 100 posts. Each gets its own answer, without `run`. */
  recordRuns(posts: readonly SessionRunRequest[], options?: CallOptions): Promise<SessionRunBatchAnswer>
  /** Exchanges the client's session token for a narrower one, for a sub-agent. */
  exchangeToken(exchange: TokenExchange, options?: CallOptions): Promise<TokenExchangeAnswer>
}

/**
 * Creates a client, typed by a catalogue: `createClient<typeof events>({ baseUrl, token })`, where `events` may be imported as a type.
 *
 * Retries an attempt that timed out, had no answer, or got 408, 429, 502, 503 or 504: exponential backoff from half a second with full
 * jitter, and at least the server's `Retry-After`. A `Retry-After` above 30 seconds is left to the caller.
 * @throws {ClientError} `option_invalid`, with all problems of the options.
 */
export function createClient<Catalog = unknown>(options: ClientOptions): Client<EventsOf<Catalog>> {
  checkOptions('createClient', options, CHECKS)
  const { baseUrl, token, fetch: own, retries = 2, timeoutMs = 10_000 } = options
  // Without the password, which the cause of an error would show.
  const api = `${baseUrl}`.replace(/\/?$/, '/api/').replace(/\/\/[^/]*@/, '//')
  const call = async <Answer>(path: string, content: unknown, options: DispatchOptions = {}): Promise<Answer> => {
    checkOptions(path, options, CALL_CHECKS)
    const { signal, idempotencyKey } = options
    const inTime = <T, Late>(work: Promise<T>, ms: number, fallback: () => Promise<Late>): Promise<T | Late> =>
      withTimeout(work, { ms, clock: timers, signal, fallback })
    const body = JSON.stringify(content)
    const headers = {
      'content-type': 'application/json',
      ...(path === DISPATCH && { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() }),
      ...(path === BATCH && { prefer: 'return=minimal' }),
    }
    for (let retry = 0; ; retry++) {
      signal?.throwIfAborted()
      const stop = new AbortController()
      const send = (authorization: string): ReturnType<FetchLike> => {
        const init = { method: 'POST', headers: { ...headers, authorization }, body, signal: stop.signal } as const
        return (own ?? fetch)(api + path, init)
      }
      try {
        return await inTime(
          attempt<Answer>(send, token, path === EXCHANGE ? 'token' : 'warnings'),
          timeoutMs,
          async () => {
            throw new ClientError('timeout', `No answer in ${timeoutMs} ms`)
          },
        )
      } catch (error) {
        stop.abort()
        const ms = retry < retries ? callRetryDelay(error, retry) : undefined
        if (ms === undefined) throw error
        await inTime(new Promise<never>(() => {}), ms, async () => {})
      }
    }
  }
  return {
    dispatch: (event, options) => call<DispatchAnswer>(DISPATCH, event, options),
    preview: (event, options) => call<DispatchPreview>(`${DISPATCH}?dryRun=true`, event, options),
    recordRun: (run, options) => call<RunAnswer>(RUN, run, options),
    recordRuns: (runs, options) => call<SessionRunBatchAnswer>(BATCH, { runs }, options),
    exchangeToken: (exchange, options) => call<TokenExchangeAnswer>(EXCHANGE, exchange, options),
  }
}

const DISPATCH = 'outbound/dispatch'
const RUN = 'agents/session/run'
const BATCH = `${RUN}/batch`
const EXCHANGE = 'agents/session/token'

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

async function attempt<Answer>(
  send: (authorization: string) => ReturnType<FetchLike>,
  given: ClientOptions['token'],
  member: 'warnings' | 'token',
): Promise<Answer> {
  const token = typeof given === 'function' ? await given() : given
  let answer: Awaited<ReturnType<FetchLike>> | undefined
  let content: Partial<Problem> = {}
  try {
    answer = await send(`Bearer ${token}`)
    content = Object(await answer.json())
  } catch (error) {
    // The message of an invalid header quotes the token.
    const cause = token && `${error}`.includes(token) ? undefined : error
    // A body that is not JSON is still an answer.
    if (!answer || Object(error).name !== 'SyntaxError') throw new ClientError('network', 'No answer', { cause })
  }
  const { ok, status } = answer
  // Every answer of a Sallyport server except a problem has this member.
  if (ok && member in content) return content as Answer
  const problem = content.type === `urn:sallyport:problem:${content.code}` ? (content as Problem) : undefined
  throw new ClientError(problem?.code ?? 'bad_answer', problem?.detail ?? `Status ${status}`, {
    status,
    problem,
    retryAfterMs: readRetryAfter(answer.headers.get('retry-after')),
    // The function may return another token next time.
    ...(status === 401 && given !== token && { retryable: true }),
  })
}

/** Milliseconds from now, from seconds or an HTTP date. */
function readRetryAfter(value: string | null): number | undefined {
  const ms = Number(value) * 1000 || Date.parse(`${value}`) - Date.now()
  return ms > 0 ? ms : undefined
}

/** Exponential backoff with full jitter, after `Retry-After`. `undefined`: no retry. */
function callRetryDelay(error: unknown, retry: number): number | undefined {
  if (!isClientError(error)) return undefined
  const { status, retryAfterMs = 0 } = error
  // Not after 500, a fault of the server. Without a status there was no answer.
  if ((status && ![408, 429, 502, 503, 504].includes(status)) || retryAfterMs > 30_000) return undefined
  return retryAfterMs + Math.random() * Math.min(8000, 500 * 2 ** retry)
}

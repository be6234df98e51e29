import type { Problem } from '../errors.ts'
import { withTimeout } from '../model/time-out.ts'
import { fn, matching, whole } from '../options/checks.ts'
import { type Check, type Checks, required } from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'
import { checkOptions } from './check-options.ts'
import { ClientError, isClientError } from './client-error.ts'
import { timers } from './timers.ts'

/** The used part of `fetch`. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: 'GET' | 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  json(): Promise<unknown>
}>

/** Options of a client. */
export interface ClientOptions {
  /**
   * URL before `/api/…`, with its scheme and path: `https://example.com/v1`; in a page, also a path. A user and a password in it are
   * removed. Refused with a query, a fragment, or the path of an endpoint.
   */
  readonly baseUrl: string | URL
  /**
   * An application secret or a session token, or a function that returns one; it is called for every attempt. `undefined`, from an unset
   * environment variable, is refused.
   */
  readonly token: string | undefined | (() => string | Promise<string>)
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

/** A request to the server. */
export interface Call {
  /** Relative to `/api/`, with its query. */
  readonly path: string
  /** Member of every successful answer, by which it is told from the answer of another server. */
  readonly member: string
  /** Sent as JSON by a `POST`. Absent: a `GET`. */
  readonly content?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request, and repeats it while a retry may help. */
export type Caller = <Answer>(call: Call, options: CallOptions) => Promise<Answer>

/**
 * Retries an attempt that timed out, had no answer, or got 408, 429, 502, 503 or 504: exponential backoff from half a second with full
 * jitter, and at least the server's `Retry-After`. A `Retry-After` above 30 seconds is left to the caller.
 *
 * @throws {ClientError} `option_invalid`, with all problems of the options.
 */
export function callerOf(name: string, options: ClientOptions): Caller {
  checkOptions(name, options, CHECKS)
  const { baseUrl, token, fetch: own, retries = 2, timeoutMs = 10_000 } = options
  // Without the password, which the cause of an error would show.
  const api = withoutPassword(`${baseUrl}`).replace(/\/?$/, '/api/')
  return async <Answer>(call: Call, { signal }: CallOptions): Promise<Answer> => {
    const { path, member, headers } = call
    const inTime = <T, Late>(work: Promise<T>, ms: number, fallback: () => Promise<Late>): Promise<T | Late> =>
      withTimeout(work, { ms, clock: timers, signal, fallback })
    // A GET without a body: its content is undefined, and so is its JSON.
    const body = JSON.stringify(call.content)
    const method = 'content' in call ? 'POST' : 'GET'
    for (let retry = 0; ; retry++) {
      signal?.throwIfAborted()
      const stop = new AbortController()
      const send = (authorization: string): ReturnType<FetchLike> => {
        const init = {
          method,
          headers: { 'content-type': 'application/json', ...headers, authorization },
          body,
          signal: stop.signal,
        } as const
        return (own ?? fetch)(api + path, init)
      }
      try {
        return await inTime(attempt<Answer>(send, token, member), timeoutMs, async () => {
          throw new ClientError('timeout', `No answer in ${timeoutMs} ms`)
        })
      } catch (error) {
        stop.abort()
        const ms = retry < retries ? callRetryDelay(error, retry) : undefined
        if (ms === undefined) throw error
        await inTime(new Promise<never>(() => {}), ms, async () => {})
      }
    }
  }
}

/** Sends a body by POST, and checks the options of the call. */
export type Poster = <Answer>(path: string, content: object, member: string, options?: CallOptions) => Promise<Answer>

export function posterOf(call: Caller): Poster {
  return async (path, content, member, { signal } = {}) => {
    checkOptions(path, { signal }, SIGNAL_CHECKS)
    return call({ path, content, member }, { signal })
  }
}

export const SIGNAL_CHECKS: Checks<CallOptions> = {
  signal: matching((value) => value instanceof AbortSignal, 'must be an AbortSignal', kindOf),
}

const withoutPassword = (url: string): string => url.replace(/\/\/[^/]*@/, '//')

const baseUrl: Check = (value) => {
  const [url = '', extra] = withoutPassword(`${value}`).split(/[?#]/)
  // Pages may use a path of their own origin.
  if (!/^(https?:\/)?\//i.test(url)) return `is ${kindOf(value)}; needs http:// or https://`
  const base = url.replace(/\/api(\/(outbound|agents)\b.*)?\/?$/, '')
  if (base !== url || extra !== undefined) return `must be only what stands before /api/: ${base || '/'}`
  return undefined
}

const CHECKS: Checks<ClientOptions> = {
  baseUrl: required(baseUrl),
  token: required(
    matching(
      (value) => (typeof value === 'string' && value !== '') || typeof value === 'function',
      'is its environment variable set?',
    ),
  ),
  fetch: fn,
  timeoutMs: whole(1, 2 ** 31 - 1),
  retries: whole(0, 100),
}

async function attempt<Answer>(
  send: (authorization: string) => ReturnType<FetchLike>,
  given: ClientOptions['token'],
  member: string,
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
    if (!answer || Object(error).name !== 'SyntaxError') {
      throw new ClientError('network', `${answer ? 'The answer broke off' : 'No answer'}${codeOf(cause)}`, { cause })
    }
  }
  const { ok, status } = answer
  // Every such answer of a Sallyport server except a problem has this member.
  if (ok && member in content) return content as Answer
  const problem = content.type === `urn:sallyport:problem:${content.code}` ? (content as Problem) : undefined
  const [type] = /^[\w.+-]+\/[\w.+-]+/.exec(`${answer.headers.get('content-type')}`) ?? ['no content-type']
  const foreign = `No answer of Sallyport: status ${status}, ${type}. Check baseUrl, and any proxy`
  throw new ClientError(problem?.code ?? 'bad_answer', problem ? messageOf(problem) : foreign, {
    status,
    problem,
    retryAfterMs: readRetryAfter(answer.headers.get('retry-after')),
    // The function may return another token next time.
    ...(status === 401 && given !== token && { retryable: true }),
  })
}

/** The detail, and the places of the faults: names below the second may be data. */
function messageOf({ detail, errors = [] }: Problem): string {
  return errors.reduce((text, { pointer, detail }) => `${text}\n- ${pointer.split('/', 3).join('/')} ${detail}`, detail)
}

/** `: ECONNREFUSED`: the code of an error, or of its cause, as `fetch` has it. */
function codeOf(error: unknown): string {
  const { code, cause } = Object(error)
  const known = code ?? Object(cause).code ?? ''
  return /^\w{1,64}$/.test(known) ? `: ${known}` : ''
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

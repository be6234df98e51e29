/** As much of `fetch` as is used. */
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

/** Where the endpoints are, and how they are called. */
export interface ClientOptions {
  /** What stands before `/api/…`, with its path: `https://example.com/v1`. A user and a password in it are taken off. */
  readonly baseUrl: string | URL
  /** An application's secret or a session token, or what gives one: it is asked for every attempt. */
  readonly token: string | (() => string | Promise<string>)
  /** Default: the `fetch` of the runtime. */
  readonly fetch?: FetchLike
  /** How long one attempt may take, in milliseconds, its token and its answer included. 1 to 2^31 - 1. Default 10,000. */
  readonly timeoutMs?: number
  /** How many attempts may follow the first, 0 to 100. Default 2. */
  readonly retries?: number
}

/** How one call is to be made. */
export interface CallOptions {
  /** When it aborts, the call rejects with its reason, and nothing is tried again. */
  readonly signal?: AbortSignal | undefined
}

/** How one dispatch is to be made. */
export interface DispatchOptions extends CallOptions {
  /** 1-255 visible ASCII characters: a second call with it gets the first one's answer. Default: a UUID for each call. */
  readonly idempotencyKey?: string
}

import type { HandlerRequest } from '../core/answers/result.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { ignoreRejection } from '../model/thrown.ts'
import type { Clock } from '../ports/clock.ts'
import { answer } from './answer.ts'
import { type BodySink, declaredLength, type HostBody, LINGER_BYTES, LINGER_MS } from './body-reader.ts'
import type { Target } from './routes.ts'
import { closing, hasNoBody, internalError, type Wire } from './wire.ts'

/** The members of `Request` that are used. Some frameworks have their own class, so `instanceof` is not used. */
export interface FetchRequest {
  readonly method: string
  readonly url: string
  readonly headers: FetchHeaders
  readonly bodyUsed: boolean
  readonly body: FetchBody | null
  readonly signal?: { readonly aborted: boolean }
  arrayBuffer(): Promise<ArrayBuffer>
}

/** Looks at no member that a framework creates when it is read. */
export function isFetchRequest(given: unknown): given is FetchRequest {
  return typeof given === 'object' && given !== null && 'url' in given && 'bodyUsed' in given
}

interface FetchHeaders {
  get(name: string): string | null
  forEach(take: (value: string, name: string) => void): void
}

interface FetchBody {
  readonly locked: boolean
  getReader(): FetchReader
}

interface FetchReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

export interface FetchAnswer {
  readonly wire: Wire
  /** Set if the body was refused before all of it had arrived: resolves when the answer and the connection may end. */
  readonly lingering?: Promise<void> | undefined
}

/** Answers a fetch-style request. Never rejects: fetch-style hosts have no error handler. */
export async function answerFetch(
  endpoints: Endpoints,
  target: Target,
  request: FetchRequest,
  context: readonly unknown[] = [],
): Promise<FetchAnswer> {
  const headers = 'open' in target ? allHeadersOf(request) : headersOf(request)
  const body = requestBody(request, headers, endpoints.clock)
  const wire = await answer(endpoints, target, {
    method: request.method,
    url: request.url,
    headers,
    given: [request, ...context],
    body: body.take,
    hasLeft: () => request.signal?.aborted === true,
  }).catch((cause: unknown) => internalError(endpoints, cause))
  const lingering = letGo(body)
  return lingering ? { wire: closing(wire), lingering } : { wire: closeIfStopping(endpoints, wire) }
}

/** Closes the connection when the host stops. A fetch request has no HTTP version: servers drop the header over HTTP/2. */
export function closeIfStopping(endpoints: Endpoints, wire: Wire): Wire {
  return endpoints.isStopping() ? closing(wire) : wire
}

/** {@link closeIfStopping} for the host's own response. Immutable headers, such as of a `fetch` result, are unchanged. */
export function closeHostResponse(endpoints: Endpoints, response: Response): Response {
  if (!endpoints.isStopping()) return response
  try {
    response.headers.set('connection', 'close')
  } catch {
    // The connection closes with another answer, or with the server.
  }
  return response
}

let utf8: InstanceType<typeof TextEncoder> | undefined

export function toResponse({ wire, lingering }: FetchAnswer, method: string): Response {
  const { status, headers, text } = wire
  if (hasNoBody(status)) return new Response(null, { status, headers })
  utf8 ??= new TextEncoder()
  const bytes = utf8.encode(text)
  // Servers write a string at once; bytes become a stream in some of them.
  const body = lingering ? endingAfter(lingering, bytes) : text
  return new Response(method === 'HEAD' ? null : body, {
    status,
    headers: { 'content-length': String(bytes.byteLength), ...headers },
  })
}

/** Ends after `lingering`: the host closes the connection at the end of the stream, before the caller reads the answer. */
function endingAfter(lingering: Promise<void>, bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes)
      await lingering
      controller.close()
    },
  })
}

/** All headers that endpoints with a bearer token use. Getting them by name avoids creating others in a host with lazy headers. */
const HEADERS = [
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'idempotency-key',
  'prefer',
] as const

/** All headers that reads use. */
const READ_HEADERS = ['authorization', 'if-none-match'] as const

function headersOf({ headers, method }: FetchRequest): HandlerRequest['headers'] {
  const read: Record<string, string> = {}
  for (const name of method === 'GET' || method === 'HEAD' ? READ_HEADERS : HEADERS) {
    const value = headers.get(name)
    if (value !== null) read[name] = value
  }
  return read
}

function allHeadersOf({ headers }: FetchRequest): HandlerRequest['headers'] {
  const read: Record<string, string> = {}
  headers.forEach((value, name) => {
    read[name.toLowerCase()] = value
  })
  return read
}

/** Keeps the runtime alive for work after the answer. */
export type WaitUntil = (work: Promise<void>) => unknown

export function waitUntilOf(context: unknown): WaitUntil | undefined {
  if (typeof context !== 'object' || context === null || !('waitUntil' in context)) return undefined
  const { waitUntil } = context
  return typeof waitUntil === 'function' ? (work) => waitUntil.call(context, work) : undefined
}

const ACCEPTED = 202

/** Delivers after the answer, where the runtime stays alive that long. A failure does not change the answer. */
export function deliverAfter({ status }: Wire, endpoints: Endpoints, waitUntil: WaitUntil | undefined): void {
  if (!waitUntil || (status !== ACCEPTED && !endpoints.hasWork())) return
  try {
    ignoreRejection(waitUntil(endpoints.deliver()))
  } catch {
    // A worker or the next `runDue` delivers the rest.
  }
}

interface RequestBody {
  take(): HostBody
  /**
   * Called when the request is answered. While part of the body may still arrive, returns a promise that resolves when the answer
   * may end. A cancel would cut the connection in hosts on Node, before the caller reads the answer.
   */
  letGo(): Promise<void> | undefined
}

/** Longer bodies are read as a stream: a host may use many times the length of a body that it collects in one call. */
const WHOLE_BYTES = 16_384

/** Reads a short body of known length in one call, which is much faster where a stream would have to be created first. */
function requestBody(request: FetchRequest, headers: HandlerRequest['headers'], clock: Clock): RequestBody {
  const length = declaredLength(headers)
  let isBegun = false
  let isReading = false
  let lingering: Promise<void> | undefined

  function pump(sink: BodySink): () => void {
    isBegun = true
    const body = bodyOf(request)
    const flow = body && startFlow(body.getReader(), sink, clock)
    if (!flow) queueMicrotask(sink.end)
    return () => {
      lingering = flow?.refuse()
    }
  }

  async function bytes(): Promise<ArrayBuffer> {
    isBegun = true
    isReading = true
    const read = await request.arrayBuffer()
    isReading = false
    return read
  }

  return {
    take() {
      if (request.bodyUsed) return { kind: 'consumed' }
      if (length !== undefined && length <= WHOLE_BYTES) {
        return { kind: 'whole', bytes, isTaken: () => !request.bodyUsed }
      }
      return bodyOf(request)?.locked ? { kind: 'consumed' } : { kind: 'stream', pump }
    },
    letGo() {
      if (isReading) return Promise.resolve()
      // A short body that was never read is left to the host.
      const isLong = length === undefined || length > LINGER_BYTES
      if (!isBegun && isLong && !request.bodyUsed && bodyOf(request)?.locked === false) pump(IGNORE)()
      return lingering
    },
  }
}

function letGo(body: RequestBody): Promise<void> | undefined {
  try {
    return body.letGo()
  } catch {
    return undefined
  }
}

/** Returns the body, if any. A proxied request may throw without a body: that of itty-router's `withParams` does. */
function bodyOf(request: FetchRequest): FetchBody | null {
  try {
    return request.body
  } catch {
    return null
  }
}

const IGNORE: BodySink = { chunk() {}, end() {}, broken() {} }

/** Starts the flow of a body into a sink. `refuse` returns a promise that resolves when the body has ended or may be cut off. */
function startFlow(reader: FetchReader, sink: BodySink, clock: Clock): { refuse(): Promise<void> } {
  let left = Number.POSITIVE_INFINITY
  let isOverdue = false
  let onEnd = (): void => {}

  async function flow(): Promise<void> {
    try {
      while (left >= 0 && !isOverdue) {
        const { done, value } = await reader.read()
        if (done) {
          onEnd()
          return sink.end()
        }
        left -= value?.byteLength ?? 0
        if (value) sink.chunk(value)
      }
    } catch {
      onEnd()
      sink.broken()
    }
  }

  const flowed = flow()
  // Cancels only between two reads: if the body ends after a cancel during a read, a stream that Node made of an async iterable
  // throws uncatchably.
  const cutOff = (): void => {
    isOverdue = true
    void flowed.then(() => reader.cancel()).catch(() => {})
  }
  return {
    refuse: () =>
      new Promise((resolve) => {
        left = LINGER_BYTES
        const cancelTimeout = clock.after(LINGER_MS, () => {
          resolve()
          cutOff()
        })
        onEnd = () => {
          cancelTimeout()
          resolve()
        }
      }),
  }
}

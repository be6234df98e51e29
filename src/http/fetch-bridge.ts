import type { Endpoints } from '../core/endpoints.ts'
import type { HandlerRequest } from '../core/result.ts'
import { ignoreRejection } from '../core/to-json.ts'
import type { Clock } from '../ports/clock.ts'
import { answer, internalError, type Wire } from './answer.ts'
import { BODY_TIMEOUT_MS, type BodySink, type HostBody, type Pump } from './body-reader.ts'
import type { Target } from './routes.ts'

/** What is used of a `Request`. Some frameworks bring their own class, so nothing asks for an instance. */
export interface FetchRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly bodyUsed: boolean
  readonly body: FetchBody | null
  arrayBuffer(): Promise<ArrayBuffer>
}

interface FetchBody {
  readonly locked: boolean
  getReader(): FetchReader
}

interface FetchReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/** Answers a fetch-style request. Never rejects: there is nobody to pass an error to. */
export function answerFetch(endpoints: Endpoints, target: Target, request: FetchRequest): Promise<Wire> {
  const headers = headersOf(request)
  return answer(endpoints, target, {
    method: request.method,
    headers,
    body: () => bodyOf(request, headers, endpoints.clock),
  }).catch((cause: unknown) => internalError(endpoints, cause))
}

/** Made once, at the first answer. */
let utf8: InstanceType<typeof TextEncoder> | undefined

/** Puts an answer into a `Response`. */
export function toResponse({ status, headers, text }: Wire, method: string): Response {
  utf8 ??= new TextEncoder()
  const bytes = utf8.encode(text)
  return new Response(method === 'HEAD' ? null : bytes, {
    status,
    headers: { 'content-length': String(bytes.byteLength), ...headers },
  })
}

/** All that is read anywhere. They are asked for by name, because to visit all is to make them all where that is put off. */
const HEADERS = [
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'idempotency-key',
  'prefer',
] as const

function headersOf({ headers }: FetchRequest): HandlerRequest['headers'] {
  const read: Record<string, string> = {}
  for (const name of HEADERS) {
    const value = headers.get(name)
    if (value !== null) read[name] = value
  }
  return read
}

/** A body whose length is known is read in one go, which is quicker by far where a stream would have to be made first. */
function bodyOf(request: FetchRequest, headers: HandlerRequest['headers'], clock: Clock): HostBody {
  if (request.bodyUsed) return { kind: 'consumed' }
  if (headers['content-length'] !== undefined && headers['transfer-encoding'] === undefined) {
    return { kind: 'whole', bytes: () => request.arrayBuffer(), isTaken: () => !request.bodyUsed }
  }
  const { body } = request
  if (body?.locked) return { kind: 'consumed' }
  return { kind: 'stream', pump: body ? pumpOf(body, clock) : noBody }
}

/**
 * A refused body is let by, but for no longer than any other, and only then cancelled: in hosts on Node, to cancel is to cut
 * the connection, and the answer with it. A body that was refused unread is the host's to deal with, like any that a handler
 * does not ask for.
 */
function pumpOf(body: FetchBody, clock: Clock): Pump {
  return (sink) => {
    const reader = body.getReader()
    const flowing = flow(reader, sink)
    return () => {
      const callOff = clock.after(BODY_TIMEOUT_MS, () => void reader.cancel().catch(() => {}))
      void flowing.finally(callOff)
    }
  }
}

async function flow(reader: FetchReader, sink: BodySink): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return sink.end()
      if (value) sink.chunk(value)
    }
  } catch {
    sink.broken()
  }
}

function noBody(sink: BodySink): () => void {
  queueMicrotask(sink.end)
  return () => {}
}

/** Takes work that the runtime is to see through after it has sent the answer. */
export type WaitUntil = (work: Promise<void>) => unknown

/** The `waitUntil` of the context that Workers-like runtimes pass along. */
export function waitUntilOf(context: unknown): WaitUntil | undefined {
  if (typeof context !== 'object' || context === null || !('waitUntil' in context)) return undefined
  const { waitUntil } = context
  return typeof waitUntil === 'function' ? (work) => waitUntil.call(context, work) : undefined
}

const ACCEPTED = 202

/** Has what a request brought delivered, where the runtime goes on that long. The answer stands, whatever comes of it. */
export function deliverAfter({ status }: Wire, endpoints: Endpoints, waitUntil: WaitUntil | undefined): void {
  if (!waitUntil || (status !== ACCEPTED && !endpoints.isTelling())) return
  try {
    ignoreRejection(waitUntil(endpoints.deliver()))
  } catch {
    // The delivery goes on for as long as the runtime lets it, and what is left is found by whoever looks next.
  }
}

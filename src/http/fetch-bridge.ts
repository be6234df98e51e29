import type { HandlerRequest } from '../core/answers/result.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { ignoreRejection } from '../model/thrown.ts'
import { answer, closing, internalError, type Wire } from './answer.ts'
import { endingWithFetched } from './connection-end.ts'
import { type FetchRequest, fetchBody, type RequestBody } from './fetch-body.ts'
import type { Target } from './routes.ts'

/** An answer to a fetch-style request. */
export interface FetchAnswer {
  readonly wire: Wire
  /** Where the body was refused before all of it had arrived: resolves when the answer, and with it the connection, may end. */
  readonly lingering?: Promise<void> | undefined
}

/** Answers a fetch-style request. Never rejects: there is nobody to pass an error to. */
export async function answerFetch(endpoints: Endpoints, target: Target, request: FetchRequest): Promise<FetchAnswer> {
  const headers = headersOf(request)
  const body = fetchBody(request, headers, endpoints.clock)
  const wire = await answer(endpoints, target, {
    method: request.method,
    headers,
    body: body.take,
    hasLeft: () => request.signal?.aborted === true,
  }).catch((cause: unknown) => internalError(endpoints, cause))
  const lingering = letGo(body)
  return lingering ? { wire: closing(wire), lingering } : { wire: endingWithFetched(endpoints, wire) }
}

/** A request whose body cannot be read, or is none, has nothing to be let go. */
function letGo(body: RequestBody): Promise<void> | undefined {
  try {
    return body.letGo()
  } catch {
    return undefined
  }
}

/** Made once, at the first answer. */
let utf8: InstanceType<typeof TextEncoder> | undefined

/** Puts an answer into a `Response`. */
export function toResponse({ wire, lingering }: FetchAnswer, method: string): Response {
  const { status, headers, text } = wire
  utf8 ??= new TextEncoder()
  const bytes = utf8.encode(text)
  const body = lingering ? lastOf(bytes, lingering) : bytes
  return new Response(method === 'HEAD' ? null : body, {
    status,
    headers: { 'content-length': String(bytes.byteLength), ...headers },
  })
}

/** The last answer of a connection. A host closes that when the answer ends, and by then its caller should have read it. */
function lastOf(bytes: Uint8Array, lingering: Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes)
      await lingering
      controller.close()
    },
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
  if (!waitUntil || (status !== ACCEPTED && !endpoints.isPublishing())) return
  try {
    ignoreRejection(waitUntil(endpoints.deliver()))
  } catch {
    // The delivery goes on for as long as the runtime lets it, and what is left is found by whoever looks next.
  }
}

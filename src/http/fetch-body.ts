import type { HandlerRequest } from '../core/answers/result.ts'
import type { Clock } from '../ports/clock.ts'
import { type BodySink, type HostBody, LINGER_BYTES, LINGER_MS } from './body-reader.ts'
import { declaredLength } from './json-body.ts'

/** What is used of a `Request`. Some frameworks bring their own class, so nothing asks for an instance. */
export interface FetchRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly bodyUsed: boolean
  readonly body: FetchBody | null
  readonly signal?: { readonly aborted: boolean }
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

/** Longer bodies are read as a stream: how a host collects what it reads in one go is its own, and may take many times the length. */
const WHOLE_BYTES = 16_384

/** The body of a request, and what becomes of it when the request is refused before all of it has arrived. */
export interface RequestBody {
  take(): HostBody
  /**
   * To be called when the request is answered. Gives, where part of the body may still come, what resolves when the answer, and with it
   * the connection, may end: of a refused body at most {@link LINGER_BYTES} more are read, and what comes later than {@link LINGER_MS}
   * is cancelled. In hosts on Node to cancel is to cut the connection, so the caller is given this long to read the answer.
   */
  letGo(): Promise<void> | undefined
}

/** A short body whose length is known is read in one go, which is quicker by far where a stream would have to be made first. */
export function fetchBody(request: FetchRequest, headers: HandlerRequest['headers'], clock: Clock): RequestBody {
  const length = declaredLength(headers)
  let isBegun = false
  let isReading = false
  let lingering: Promise<void> | undefined

  function pump(sink: BodySink): () => void {
    isBegun = true
    const body = bodyOf(request)
    const flow = body && flowing(body.getReader(), sink, clock)
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
      // A short body that nobody has begun to read is the host's to deal with.
      const isLong = length === undefined || length > LINGER_BYTES
      if (!isBegun && isLong && !request.bodyUsed && bodyOf(request)?.locked === false) pump(NOBODY)()
      return lingering
    },
  }
}

/** The body of a request, if it has one. A request wrapped in a proxy may throw where there is none: that of itty-router's `withParams` does. */
function bodyOf(request: FetchRequest): FetchBody | null {
  try {
    return request.body
  } catch {
    return null
  }
}

const NOBODY: BodySink = { chunk() {}, end() {}, broken() {} }

/** Starts a body flowing into a sink. `refuse` gives what resolves when it has ended, or may be cut off. */
function flowing(reader: FetchReader, sink: BodySink, clock: Clock): { refuse(): Promise<void> } {
  let left = Number.POSITIVE_INFINITY
  let isOverdue = false
  let isOver = (): void => {}

  async function flow(): Promise<void> {
    try {
      while (left >= 0 && !isOverdue) {
        const { done, value } = await reader.read()
        if (done) {
          isOver()
          return sink.end()
        }
        left -= value?.byteLength ?? 0
        if (value) sink.chunk(value)
      }
    } catch {
      isOver()
      sink.broken()
    }
  }

  // Cancelled only between two reads: if the body ends after a cancel during one, a stream that Node made of an async iterable throws
  // where nobody can catch it.
  const flowed = flow()
  const cutOff = (): void => {
    isOverdue = true
    void flowed.then(() => reader.cancel()).catch(() => {})
  }
  return {
    refuse: () =>
      new Promise((resolve) => {
        left = LINGER_BYTES
        const callOff = clock.after(LINGER_MS, () => {
          resolve()
          cutOff()
        })
        isOver = () => {
          callOff()
          resolve()
        }
      }),
  }
}

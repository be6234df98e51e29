import { type HandlerRequest, isRefused, type Refused } from '../core/answers/result.ts'
import type { Endpoints, OpenAction } from '../core/endpoints.ts'
import type { Caller } from '../core/load/fair-shares.ts'
import { overloaded } from '../core/load/load-limits.ts'
import { bytesOf, type HostBody, type ReadOptions } from './body-reader.ts'
import { checkEncoding } from './content-headers.ts'
import { pathAndQuery } from './request-target.ts'
import type { OpenTarget } from './routes.ts'
import { JSON_TYPE, methodNotAllowed, notFound, toWire, type Wire } from './wire.ts'

/** A request to an open endpoint, independent of its transport. */
interface Arrival extends Caller {
  readonly method: string
  /** URL or path as the host received it. */
  readonly url: string
  /** All headers, with names in lower case. */
  readonly headers: HandlerRequest['headers']
  /** Arguments of the host's framework. */
  readonly given: readonly unknown[]
  /** Called at most once. */
  body(): HostBody
}

/** Content that a handler gets. */
interface Content {
  readonly headers: HandlerRequest['headers']
  readonly body: Uint8Array
}

/**
 * Answers a request without a bearer token. Order of checks: endpoint, which may refuse the head, method, load, body headers, body, place
 * in flight. All callers of one endpoint share the places and bodies of one principal, and no tenant's: when there is no place for a body,
 * the newest takes that of the oldest, so that slow bodies keep nobody out.
 */
export async function answerOpen(
  endpoints: Endpoints,
  { open, parameter }: OpenTarget,
  arrival: Arrival,
): Promise<Wire> {
  const { load } = endpoints
  const { method, headers, given } = arrival
  const url = pathAndQuery(arrival.url)
  const refused = (refusal: Refused): Wire => toWire(endpoints.refuse(refusal))

  const found = await open.find(parameter, { method, url, headers, given })
  if (!found) return notFound(endpoints)
  if (isRefused(found)) return refused(found)
  if (open.methods.length > 0 && !open.methods.includes(method))
    return refused(methodNotAllowed(open.methods.join(', ')))
  const holder = { tenant: '', id: `open ${open.name} ${found.name ?? ''}`, isAnybody: true }
  if (load.flight.isFull(holder)) return refused(overloaded())

  const begin: ReadOptions['begin'] = (refuse) => load.bodies.begin(holder, refuse)
  const content = await contentOf(arrival, open.accepts, {
    maxBytes: found.maxBytes ?? open.maxBytes,
    clock: endpoints.clock,
    begin,
  })
  if (isRefused(content)) return refused(content)

  if (!load.flight.tryAcquire(holder, arrival)) return refused(overloaded())
  try {
    const answer = await found.handle({ method, url, given, ...content })
    if (isRefused(answer)) return refused(answer)
    return 'text' in answer ? answer : toWire(answer)
  } finally {
    load.flight.release(arrival)
  }
}

const EMPTY = new Uint8Array(0)

async function contentOf(
  arrival: Arrival,
  accepts: OpenAction['accepts'],
  options: ReadOptions,
): Promise<Content | Refused> {
  const { method, headers } = arrival
  if (method === 'GET' || method === 'HEAD') return { headers, body: EMPTY }
  const unsupported = checkEncoding(headers)
  if (unsupported) return unsupported
  const left = arrival.body()
  const again = accepts === 'bytes' ? undefined : encodedAgain(left, accepts)
  const read = await bytesOf(left, headers, options)
  if (!isRefused(read)) return { headers, body: read }
  if (again === undefined || read.refused !== 'body_already_consumed') return read
  const type = accepts === 'form' ? 'application/x-www-form-urlencoded' : JSON_TYPE
  return { headers: { ...headers, 'content-type': type }, body: again }
}

/** A body that the host's parser has parsed: as JSON, or its text fields as a form. */
function encodedAgain(body: HostBody, format: 'form' | 'json'): Uint8Array | undefined {
  if (body.kind !== 'left') return undefined
  if (format === 'json') return new TextEncoder().encode(JSON.stringify(body.value))
  const fields = Object.entries(Object(body.value)).filter(
    (field): field is [string, string] => typeof field[1] === 'string',
  )
  return new TextEncoder().encode(new URLSearchParams(fields).toString())
}

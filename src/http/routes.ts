import type { Action } from '../core/endpoints.ts'
import type { Operation } from '../model/principal.ts'
import { matching } from '../options/checks.ts'
import type { Checks } from '../options/read-options.ts'

/** One endpoint as callers see it. */
export interface HttpRoute {
  readonly action: Action
  /** What a token must allow. */
  readonly operation: Operation
  readonly method: 'POST'
  /** Below the base path. */
  readonly path: string
  /** The largest body that is read. */
  readonly maxBytes: number
}

/** Everything that Sallyport answers to. */
export const ROUTES: readonly HttpRoute[] = [
  {
    action: 'dispatch',
    operation: 'dispatch',
    method: 'POST',
    path: '/api/outbound/dispatch',
    maxBytes: 262_144,
  },
  {
    action: 'session_run',
    operation: 'session_run',
    method: 'POST',
    path: '/api/agents/session/run',
    maxBytes: 65_536,
  },
  {
    action: 'session_run_batch',
    operation: 'session_run',
    method: 'POST',
    path: '/api/agents/session/run/batch',
    maxBytes: 262_144,
  },
]

/** Where the document of the endpoints is, on a mount that has one. */
const DOCUMENT_PATH = '/api/outbound/openapi.json'

/** Where Sallyport is mounted. */
export interface MountOptions {
  /**
   * What stands before `/api/…` in the path that the adapter sees, such as `/v1`; nothing by default. Leave it out where the
   * host strips the prefix itself (`app.use('/v1', …)` in Express, `mount` in Hono). A request that misses the endpoints by its
   * prefix alone is told of in the log, as `mount.missed`, with what to change, whether or not another mount answers it.
   *
   * Anything but a plain path stops the mounting with a `SallyportError`, `option_invalid`.
   */
  readonly basePath?: string | undefined
  /**
   * Answers `GET /api/outbound/openapi.json` with this document, to anybody: `openapiDocument()` of `sallyport/openapi`. By
   * default there is no such endpoint.
   */
  readonly openapi?: object | undefined
}

/** What a request is for, whatever its method. */
export type Target =
  | {
      readonly route: HttpRoute
      /** The query string, without its `?`. */
      readonly search: string
    }
  /** The JSON text of the document. */
  | { readonly document: string }

/** Tells what a request is for, by its target: a path with its query, or a whole URL. */
export interface Routing {
  /** What stands before `/api/…`, without a slash at its end. */
  readonly base: string
  /** `undefined`: not ours. Paths match exactly, but for one trailing slash. */
  match(target: string): Target | undefined
  /** Whether a target that did not match would have, but for its prefix. */
  nearMiss(target: string): NearMiss | undefined
}

/** A target that would have matched, but for its prefix. */
export interface NearMiss {
  readonly prefix: string
  /** What to change. Says nothing of the prefix, which is the caller's. */
  readonly detail: string
}

/** The checks of {@link MountOptions}. */
export const MOUNT_CHECKS: Checks<MountOptions> = {
  basePath: matching(isPlainPath, 'must be a plain path such as "/v1"'),
  openapi: matching(isDocument, 'must be an OpenAPI document: openapiDocument() of sallyport/openapi'),
}

const PLAIN_PATH = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i

/** The routes as they are below the base path, of options that were checked. */
export function routesBelow(options: MountOptions = {}): Routing {
  const base = normalise(options.basePath ?? '')
  const routes = new Map(ROUTES.map((route) => [base + route.path, route]))
  // Written out once: it is the same for everybody.
  const document = options.openapi && JSON.stringify(options.openapi)
  return {
    base,
    match(target) {
      const [path, search] = parsed(target)
      const route = routes.get(path)
      if (route) return { route, search }
      return document && path === base + DOCUMENT_PATH ? { document } : undefined
    },
    nearMiss(target) {
      const [path] = parsed(target)
      const route = ROUTES.find((each) => path.endsWith(each.path))
      if (!route) return undefined
      const prefix = path.slice(0, -route.path.length)
      const change =
        prefix === ''
          ? `without the basePath "${base}", so the host takes that prefix off itself. Leave basePath out.`
          : `below another prefix than the basePath "${base}". Give what stands before /api/ as basePath.`
      return { prefix, detail: `Unless another mount answers there: ${route.path} was asked for ${change}` }
    },
  }
}

/** The path, without a slash at its end, and the query. */
function parsed(target: string): readonly [path: string, search: string] {
  const local = target.startsWith('/') ? target : target.replace(ORIGIN, '')
  const hash = local.indexOf('#')
  const whole = hash < 0 ? local : local.slice(0, hash)
  const mark = whole.indexOf('?')
  return mark < 0 ? [withoutSlash(whole), ''] : [withoutSlash(whole.slice(0, mark)), whole.slice(mark + 1)]
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

/** The parameters of a query string; of a name that was sent more than once, all of them. */
export function parseQuery(search: string): Record<string, string | readonly string[] | undefined> {
  const query: Record<string, string | string[] | undefined> = Object.create(null)
  for (const [name, value] of new URLSearchParams(search)) {
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === 'string') query[name] = [before, value]
    else before.push(value)
  }
  return query
}

function normalise(basePath: string): string {
  return withoutSlash(basePath === '' || basePath.startsWith('/') ? basePath : `/${basePath}`)
}

function isPlainPath(value: unknown): boolean {
  return typeof value === 'string' && PLAIN_PATH.test(normalise(value))
}

function isDocument(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'openapi' in value
}

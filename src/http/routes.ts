import type { Action } from '../core/endpoints.ts'
import { SallyportError } from '../errors.ts'
import type { Operation } from '../model/principal.ts'

/** One endpoint as callers see it. */
export interface Route {
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
const ROUTES: readonly Route[] = [
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
    maxBytes: 1_048_576,
  },
]

/** Where Sallyport is mounted. */
export interface MountOptions {
  /**
   * What stands before `/api/…` in the path that the adapter sees, such as `/v1`; nothing by default. Leave it out where the
   * host strips the prefix itself (`app.use('/v1', …)` in Express, `mount` in Hono).
   *
   * Anything but a plain path stops the mounting with a `SallyportError`, `option_invalid`.
   */
  readonly basePath?: string | undefined
}

/** A route that a request is for, whatever its method. */
export interface Target {
  readonly route: Route
  /** The query string, without its `?`. */
  readonly search: string
}

/** Finds the route of a request target: a path with its query, or a whole URL. `undefined`: not ours. */
export type Matcher = (target: string) => Target | undefined

const PLAIN_PATH = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i

/** Paths match exactly, but for one trailing slash. */
export function matcher(options: MountOptions = {}): Matcher {
  if (typeof options !== 'object' || options === null) throw badBasePath(options)
  const base = normalise(options.basePath ?? '')
  const routes = new Map(
    ROUTES.flatMap((route) => [
      [base + route.path, route],
      [`${base + route.path}/`, route],
    ]),
  )
  return (target) => {
    const local = target.startsWith('/') ? target : target.replace(ORIGIN, '')
    const hash = local.indexOf('#')
    const whole = hash < 0 ? local : local.slice(0, hash)
    const mark = whole.indexOf('?')
    const route = routes.get(mark < 0 ? whole : whole.slice(0, mark))
    return route && { route, search: mark < 0 ? '' : whole.slice(mark + 1) }
  }
}

/** The parameters of a query string; of a name sent twice, the first. */
export function parseQuery(search: string): Record<string, string | undefined> {
  const query: Record<string, string | undefined> = Object.create(null)
  for (const [name, value] of new URLSearchParams(search)) query[name] ??= value
  return query
}

function normalise(basePath: string): string {
  if (typeof basePath !== 'string') throw badBasePath(basePath)
  const rooted = basePath === '' || basePath.startsWith('/') ? basePath : `/${basePath}`
  const base = rooted.endsWith('/') ? rooted.slice(0, -1) : rooted
  if (!PLAIN_PATH.test(base)) {
    throw badBasePath(basePath)
  }
  return base
}

function badBasePath(given: unknown): SallyportError {
  const detail = `basePath is ${JSON.stringify(given)}; give it as { basePath: '/v1' }`
  return new SallyportError('option_invalid', 'The basePath is not a plain path such as "/v1".', [{ detail }])
}

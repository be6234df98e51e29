import type { Endpoints } from '../core/endpoints.ts'
import { matching } from '../options/checks.ts'
import { type Checks, optionError, problemsAt, readOptions } from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'
import { splitTarget, withoutSlash } from './request-target.ts'
import { DOCUMENT_PATH, routerOf, type Target } from './routes.ts'
import { notFound, type Wire } from './wire.ts'

/** Result of `createSallyport(…)` or `createConsole(…)`, for an adapter. */
export interface Mountable {
  readonly endpoints: Endpoints
  /** It answers every path below the base path: see `createConsole`. Default: only those of endpoints. */
  readonly answersAll?: true
}

/** Options of mounting. */
export interface MountOptions {
  /**
   * Prefix of `/api/…` in the path that the adapter receives, such as `/v1`. Default: none. Omit it where the host strips the
   * prefix itself (`app.use('/v1', …)` in Express, `mount` in Hono). A request that misses the endpoints only by its prefix is
   * logged as `mount.missed`, with the remedy, even if another mount answers it.
   *
   * Any value but a plain path throws a `SallyportError`, `option_invalid`.
   */
  readonly basePath?: string | undefined
  /** Serves `openapiDocument()` of `sallyport/openapi` at `GET /api/outbound/openapi.json`, without authentication. Default: no. */
  readonly openapi?: object | undefined
}

export interface Mount<Options = MountOptions> {
  readonly endpoints: Endpoints
  readonly options: Options
  /** Base path, without a trailing slash. */
  readonly base: string
  /**
   * Finds the target of a path with its query, or of a whole URL; `undefined`: no endpoint. Ignores one trailing slash.
   *
   * @param original The URL before the host removed a prefix. Default: unknown.
   */
  match(url: string, original?: string): Target | undefined
  /** Answers a request without a target, if the host does not. */
  notFound(): Wire
}

export const MOUNT_CHECKS: Checks<MountOptions> = {
  basePath: matching(isPlainPath, 'must be a plain path such as "/v1"'),
  openapi: matching(isDocument, 'must be an OpenAPI document: openapiDocument() of sallyport/openapi', kindOf),
}

/** Part of every path of an endpoint. */
const API = '/api/'

/** Paths of endpoints after `/api`: what a host leaves that removes it. */
const AFTER_API = /^\/(?:outbound|agents)\//

/** Call that mounts each adapter without a prefix. */
const AT_ROOT: Readonly<Record<string, string>> = {
  toExpress: 'app.use(toExpress(sallyport))',
  toKoa: 'app.use(toKoa(sallyport))',
  toNode: 'app.use(toNode(sallyport))',
  toFetch: "app.mount('/', toFetch(sallyport))",
}

/** Limit, because callers choose the prefixes. */
const MAX_LOGGED_PREFIXES = 10

/**
 * Mounts the endpoints. Logs a request that misses them only by its prefix, once per prefix: the host's own 404 would not show the
 * remedy.
 *
 * @throws {SallyportError} `option_invalid`: the first argument is not a Sallyport, or an option is wrong.
 */
export function mount<Options extends MountOptions>(
  adapter: string,
  mountable: Mountable,
  options: Options,
  checks: Checks<Options>,
): Mount<Options> {
  // Alone: when the adapter itself was given to the host, the options are its response.
  optionError(adapter, problemsAt('sallyport', faultOfMountable(mountable, AT_ROOT[adapter])))
  const read = readOptions(adapter, options, checks)
  const { endpoints } = mountable
  const base = normalise(read.basePath ?? '')
  const router = routerOf(endpoints.actions, endpoints.open ?? [])
  const document = read.openapi && JSON.stringify(read.openapi)
  const logged = new Set<string>()

  /** The only open action of a console takes every path below the base; its parameter is the path. */
  function consoleTarget(path: string): Target | undefined {
    const [open] = endpoints.open ?? []
    const isBelow = path === base || path.startsWith(`${base}/`)
    return open && isBelow ? { open, parameter: path.slice(base.length) } : undefined
  }

  function logMiss(path: string): void {
    if (logged.size === MAX_LOGGED_PREFIXES) return
    const { prefix, asked } = router.findEnd(path) ?? {}
    if (prefix === undefined || logged.has(prefix)) return
    logged.add(prefix)
    // The detail quotes neither the prefix nor a parameter, which the caller chose.
    const detail = `Unless another mount answers there: ${asked} was asked for${wrongBase(prefix)}`
    endpoints.logger.log('warn', 'mount.missed', { detail })
  }

  function wrongBase(prefix: string): string {
    if (prefix !== '') {
      return ` below another prefix than the basePath "${base}". Give what stands before /api/ as basePath.`
    }
    return base.endsWith('/api')
      ? `, and the basePath "${base}" comes before /api/, with which the paths begin themselves. Leave basePath out.`
      : ` without the basePath "${base}", so the host takes that prefix off itself. Leave basePath out.`
  }

  /** A host that mounts at `/api`, or below, removes what is part of the endpoints' paths. */
  function logRemovedPath(path: string, original: string | undefined): void {
    if (logged.has(API)) return
    const whole = original === undefined ? wholeOf(path) : splitTarget(original)[0]
    if (whole === undefined || !whole.includes(API)) return
    const local = path.startsWith(base) ? path.slice(base.length) : path
    const { prefix = '', asked } = (whole.endsWith(local) && router.findEnd(whole)) || {}
    const removed = whole.slice(prefix.length, whole.length - local.length)
    if (asked === undefined || !removed.startsWith(API.slice(0, -1))) return
    logged.add(API)
    // From the route, not from the request: a part of the path may be an id.
    const taken = asked.split('/').slice(0, removed.split('/').length).join('/')
    const detail = [
      `Unless another mount answers there: ${asked} was asked for, and the host took off ${taken}, which belongs to it.`,
      `Mount Sallyport above, without ${taken}: ${AT_ROOT[adapter]}.`,
    ]
    endpoints.logger.log('warn', 'mount.missed', { detail: detail.join(' ') })
  }

  /** The path before a host that keeps no original URL removed `/api` from it. */
  function wholeOf(path: string): string | undefined {
    const local = path.startsWith(base) ? path.slice(base.length) : path
    return AFTER_API.test(local) ? API + local.slice(1) : undefined
  }

  return {
    endpoints,
    options: read,
    base,
    match(url, original) {
      const [path, search] = splitTarget(url)
      if (mountable.answersAll) return consoleTarget(path)
      if (document && path === base + DOCUMENT_PATH) return { document }
      if (!path.includes(API)) return void logRemovedPath(path, original)
      const found = path.startsWith(base) ? router.find(path.slice(base.length)) : undefined
      if (!found) return void logMiss(path)
      return 'open' in found ? found : { ...found, search }
    },
    notFound: () => notFound(endpoints),
  }
}

const PLACES = /* @__PURE__ */ new WeakMap<Endpoints, Set<string>>()

/** {@link mount}, and logs `mount.repeated` when an adapter mounts the same endpoints at the same place again. */
export function mountOnce(adapter: string, mountable: Mountable, options: MountOptions = {}): Mount {
  const mounted = mount(adapter, mountable, options, MOUNT_CHECKS)
  const places = PLACES.get(mounted.endpoints) ?? new Set()
  const place = `${adapter} ${mounted.base}`
  if (places.has(place)) {
    const detail = [
      `${adapter}() was called again for the same Sallyport and basePath.`,
      'At one path of one server the second is never reached: remove it.',
      'Anywhere else, use the handler that the first call gave.',
    ]
    mounted.endpoints.logger.log('warn', 'mount.repeated', { detail: detail.join(' ') })
  }
  PLACES.set(mounted.endpoints, places.add(place))
  return mounted
}

/** @param call Mounts it. */
export function faultOfMountable(mountable: unknown, call?: string): string | undefined {
  const { endpoints } = Object(mountable)
  if (typeof endpoints?.handle === 'function') return undefined
  return `must be what createSallyport(…) gave: it has no endpoints${call === undefined ? '' : `; write ${call}`}`
}

function normalise(basePath: string): string {
  return withoutSlash(basePath === '' || basePath.startsWith('/') ? basePath : `/${basePath}`)
}

const PLAIN_PATH = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/

function isPlainPath(value: unknown): boolean {
  return typeof value === 'string' && PLAIN_PATH.test(normalise(value))
}

function isDocument(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'openapi' in value
}

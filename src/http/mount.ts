import type { Endpoints } from '../core/endpoints.ts'
import { type Checks, problemsAt, readOptions } from '../options/read-options.ts'
import { notFound, type Wire } from './answer.ts'
import { MOUNT_CHECKS, type MountOptions, routesBelow, type Target } from './routes.ts'

/** What an adapter mounts: `createSallyport(…)` gives one. */
export interface Mountable {
  readonly endpoints: Endpoints
}

/** Sallyport at its place in a host. */
export interface Mount {
  readonly endpoints: Endpoints
  /** What stands before `/api/…`, however its option was written. */
  readonly base: string
  /** What a request is for, by its path with its query, or its whole URL. `undefined`: not ours. */
  match(url: string): Target | undefined
  /** The answer to a request that did not match, where no host answers it. */
  notFound(): Wire
}

/** So many prefixes are told of: callers choose what they ask for. */
const MAX_TOLD = 10

/**
 * Mounts the endpoints. A request that misses them by its prefix alone is told of in the log, once for each prefix, with what to
 * change: the host answers it as any other that it does not know, which says nothing. It may also be for another mount.
 *
 * @throws {SallyportError} `option_invalid`, for what is not Sallyport, and for an option that cannot be.
 */
export function mount<Options extends MountOptions>(
  adapter: string,
  mountable: Mountable,
  options: Options,
  checks: Checks<Options>,
): Mount & { readonly options: Options } {
  const read = readOptions(adapter, options, checks, () => problemsAt('sallyport', faultOfMountable(mountable)))
  const { endpoints } = mountable
  const { base, match, nearMiss } = routesBelow(read)
  const reported = new Set<string>()
  return {
    endpoints,
    options: read,
    base,
    match(url) {
      const target = match(url)
      if (target || reported.size === MAX_TOLD) return target
      const miss = nearMiss(url)
      if (miss === undefined || reported.has(miss.prefix)) return undefined
      reported.add(miss.prefix)
      endpoints.logger.log('warn', 'mount.missed', { detail: miss.detail })
      return undefined
    },
    notFound: () => notFound(endpoints),
  }
}

function faultOfMountable(mountable: unknown): string | undefined {
  const { endpoints } = Object(mountable)
  return typeof endpoints?.handle === 'function'
    ? undefined
    : 'must be what createSallyport(…) gave: it has no endpoints'
}

/** Handlers that were made of the same endpoints for the same place, by an adapter. */
const PLACES = /* @__PURE__ */ new WeakMap<Endpoints, Set<string>>()

/**
 * {@link mount}, for hosts in which a handler is mounted once and for all: a second one for the same place is told of in the
 * log. In one server it is never reached; two servers can share the first.
 */
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

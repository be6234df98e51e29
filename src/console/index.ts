/**
 * A console for support staff and operators, mounted into the host behind its own session.
 * @module sallyport/console
 */

import { CONSOLE_ASSETS } from 'sallyport:console-assets'
import type { OpenAnswer, OpenRequest } from '../core/endpoints.ts'
import { MOUNT_CHECKS, type Mountable, mount } from '../http/mount.ts'
import { READ_ROUTES } from '../http/routes.ts'
import { internalError, notFound } from '../http/wire.ts'
import { readOptions } from '../options/read-options.ts'
import { consoleApi } from './console-api.ts'
import { assetHeaders, PAGE_HEADERS, PREVIEW_HEADERS } from './console-headers.ts'
import { CONSOLE_CHECKS, type ConsoleOptions, type Granted, readAccess } from './console-options.ts'
import { pageOf, previewOf } from './page.ts'

export type { Mountable } from '../http/mount.ts'
export type { ConsoleAccess, ConsoleLevel, ConsoleOptions, RedactedField } from './console-options.ts'

/**
 * Creates a console that every adapter mounts: `app.use('/ops', toExpress(createConsole(sallyport, { access })))`. It reads and changes
 * nothing but what the read API offers.
 *
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
 */
export function createConsole<HostRequest = unknown>(
  sallyport: Mountable,
  options: ConsoleOptions<HostRequest>,
): Mountable {
  const own = readOptions('createConsole', options, CONSOLE_CHECKS) as ConsoleOptions
  const { endpoints, match } = mount('createConsole', sallyport, {}, MOUNT_CHECKS)
  const api = consoleApi(endpoints, match, own)
  const { title = 'Sallyport' } = own
  const offers = READ_ROUTES.map(({ action }) => action).filter((action) => endpoints.handles?.(action) !== false)

  async function accessOf({ given }: OpenRequest): Promise<Granted> {
    try {
      return readAccess(await own.access(given[0], ...given.slice(1)))
    } catch (cause) {
      endpoints.report(cause, 'auth', { level: 'error', event: 'console.access_threw' })
      return { access: 'none', user: '', tenant: 'default' }
    }
  }

  async function answer(path: string, request: OpenRequest): Promise<OpenAnswer> {
    const granted = await accessOf(request)
    if (granted.access === 'none') return notFound(endpoints)
    if (path.startsWith('/api/')) return api(path, request, granted)
    if (request.method !== 'GET' && request.method !== 'HEAD') return notFound(endpoints)
    if (path.startsWith(ASSETS)) return assetNamed(path.slice(ASSETS.length)) ?? notFound(endpoints)
    const [whole = ''] = request.url.split('?')
    const base = own.path ?? prefixOf(whole, path)
    // Without the last slash, the links of the page would lead beside the console.
    if (path === '' && !whole.endsWith('/'))
      return { status: 308, headers: { location: `${base}/`, 'cache-control': 'no-store' }, text: '' }
    if (path === '/preview') return { status: 200, headers: PREVIEW_HEADERS, text: previewOf() }
    return { status: 200, headers: PAGE_HEADERS, text: pageOf(`${base}/`, title, granted, offers) }
  }

  return {
    answersAll: true,
    endpoints: {
      ...endpoints,
      open: (_, path) => (request) => answer(path, request).catch((cause: unknown) => internalError(endpoints, cause)),
    },
  }
}

const ASSETS = '/assets/'

/** Prefix of the host's URL before the console's own path. */
function prefixOf(whole: string, path: string): string {
  const bare = whole.endsWith('/') ? whole.slice(0, -1) : whole
  return bare.endsWith(path) ? bare.slice(0, bare.length - path.length) : ''
}

function assetNamed(name: string): OpenAnswer | undefined {
  if (!Object.hasOwn(CONSOLE_ASSETS.files, name)) return undefined
  return { status: 200, headers: assetHeaders(name), text: CONSOLE_ASSETS.files[name] ?? '' }
}

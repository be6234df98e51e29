import { CONSOLE_ASSETS } from 'sallyport:console-assets'
import type { Endpoints, OpenAnswer, OpenHead } from '../core/endpoints.ts'
import { methodNotAllowed, notFound, toWire } from '../http/wire.ts'
import { isOfOtherPage } from '../pages/other-pages.ts'
import { isOffered, otherPageRefused } from './console-api.ts'
import { asData, assetHeaders, PAGE_HEADERS, PREVIEW_HEADERS } from './console-headers.ts'
import type { Granted } from './console-options.ts'
import { pageOf, previewOf } from './page.ts'

/** Answers paths that are not of the API, for a request to which the host has granted access. */
export type ConsolePages = (path: string, request: OpenHead, granted: Granted) => OpenAnswer

const ASSETS = '/assets/'

export function consolePages(endpoints: Endpoints, title = 'Sallyport'): ConsolePages {
  const offers = endpoints.actions.filter((action) => action.run && isOffered(action)).map(({ name }) => name)

  return (path, { method, url, headers }, granted) => {
    if (method !== 'GET' && method !== 'HEAD') return asData(toWire(endpoints.refuse(methodNotAllowed('GET, HEAD'))))
    // A page of another site may link to this one, but not read it.
    if (isOfOtherPage(headers) && headers['sec-fetch-mode'] !== 'navigate')
      return asData(toWire(endpoints.refuse(otherPageRefused())))
    if (path.startsWith(ASSETS)) return assetNamed(path.slice(ASSETS.length)) ?? asData(notFound(endpoints))
    if (path === '/preview') return { status: 200, headers: PREVIEW_HEADERS, text: previewOf() }
    return { status: 200, headers: PAGE_HEADERS, text: pageOf(baseOf(path, url), title, granted, offers) }
  }
}

function assetNamed(name: string): OpenAnswer | undefined {
  if (!Object.hasOwn(CONSOLE_ASSETS.files, name)) return undefined
  return { status: 200, headers: assetHeaders(name), text: CONSOLE_ASSETS.files[name] ?? '' }
}

/**
 * URL of the console, relative to that of the page. Only the browser knows the public one, because hosts and proxies remove prefixes; and a
 * relative URL cannot lead to another origin, whatever was asked for.
 */
function baseOf(path: string, url: string): string {
  const [whole = ''] = url.split('?')
  const isFolder = whole.endsWith('/')
  if (path === '' && !isFolder) return `./${whole.slice(whole.lastIndexOf('/') + 1)}/`
  const depth = path.split('/').length - (isFolder ? 1 : 2)
  return depth === 0 ? './' : '../'.repeat(depth)
}

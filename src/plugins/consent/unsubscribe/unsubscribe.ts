import type { ErrorContext, FaultLine } from '../../../core/answers/report-fault.ts'
import type { OpenAction, OpenAnswer, OpenRequest } from '../../../core/endpoints.ts'
import type { SignedLinks } from '../../../core/links/signed-links.ts'
import { type Awaitable, andThen } from '../../../model/awaitable.ts'
import { headerText, LINK_HEADERS, pageAnswers, RETRY } from '../../../pages/page-headers.ts'
import { type PageState, type UnsubscribePages, unsubscribePages } from './unsubscribe-page.ts'
import type { UnsubscribePageOptions } from './unsubscribe-page-options.ts'

/** Content of an unsubscribe link. */
export interface UnsubscribeLink {
  readonly tenant: string
  readonly channel: string
  /** HMAC of the address: `<key id>.<43 characters>`. A link never holds the address itself. */
  readonly addressKey: string
  readonly category: string
}

const PURPOSE = 'unsubscribe'
const PATH = '/api/outbound/unsubscribe/'

/** Resolves to the URL of an unsubscribe link. It never expires. */
export function unsubscribeUrl(
  { tenant, channel, addressKey, category }: UnsubscribeLink,
  links: SignedLinks,
): Promise<string> {
  return links.sign(PURPOSE, PATH, [tenant, channel, addressKey, category])
}

function readLink(token: string, links: SignedLinks): Awaitable<UnsubscribeLink | undefined> {
  return andThen(links.read(PURPOSE, token), (texts) => {
    const [tenant, channel, addressKey, category, ...more] = texts ?? []
    if (tenant === undefined || channel === undefined || addressKey === undefined) return undefined
    return category === undefined || more.length > 0 ? undefined : { tenant, channel, addressKey, category }
  })
}

/** A recipient's decision. */
export interface Unsubscription extends Omit<UnsubscribeLink, 'category'> {
  /** Absent: every category of the channel. */
  readonly category?: string
}

export interface UnsubscribeDeps {
  readonly links: SignedLinks
  /** Stores the decision; called again when it is repeated. Rejects when the store is unavailable. */
  unsubscribe(of: Unsubscription): Promise<unknown>
  /** Checked by `unsubscribePageOptions`. */
  readonly page?: UnsubscribePageOptions | undefined
  report(cause: unknown, context: ErrorContext, line: FaultLine): void
}

/** `/api/outbound/unsubscribe/{token}`. */
export function unsubscribeAction(deps: UnsubscribeDeps): OpenAction {
  const handlerOf = unsubscribeEndpoint(deps)
  return {
    name: 'unsubscribe',
    methods: ['GET', 'HEAD', 'POST'],
    path: PATH,
    parameter: '{token}',
    maxBytes: 65_536,
    accepts: 'form',
    find(token) {
      const handle = handlerOf(token)
      return handle && { handle }
    },
  }
}

interface Prepared extends UnsubscribeDeps {
  readonly pages: UnsubscribePages
  readonly answer: ReturnType<typeof pageAnswers>
}

/**
 * Prepares the pages, and returns a function that finds the handler of an unsubscribe link. `GET` and `HEAD` show a page and change nothing,
 * because scanners open links. `POST` unsubscribes from the link's category, or with the field `scope=all` from every category of the channel;
 * a repetition is answered alike.
 * The handler never rejects. `undefined`: the token is invalid. Where HMACs are asynchronous, the handler answers 404 instead.
 */
export function unsubscribeEndpoint(
  deps: UnsubscribeDeps,
): (token: string) => ((request: OpenRequest) => Promise<OpenAnswer>) | undefined {
  const pages = unsubscribePages(deps.page)
  const prepared: Prepared = { ...deps, pages, answer: pageAnswers(pages) }
  return (token) => {
    const reading = readLink(token, deps.links)
    if (reading === undefined) return undefined
    return async (request) => {
      try {
        const link = await reading
        return link ? await handle(link, request, prepared) : plain(404, 'No link has this address.')
      } catch (cause) {
        deps.report(cause, { operation: 'request' }, FAILED)
        return plain(503, 'Try again shortly.', RETRY)
      }
    }
  }
}

const FAILED = { level: 'error', event: 'request.failed' } as const

async function handle(link: UnsubscribeLink, request: OpenRequest, deps: Prepared): Promise<OpenAnswer> {
  if (request.method === 'GET' || request.method === 'HEAD') return page(200, 'asked', link, request, deps)
  if (request.method !== 'POST') return plain(405, 'Use GET or POST.', { allow: 'GET, HEAD, POST' })
  const { category, ...every } = link
  const isAll = await asksForAll(request)
  try {
    await deps.unsubscribe(isAll ? every : link)
  } catch (cause) {
    const line = { ...FAILED, fields: { code: 'store_unavailable' } }
    deps.report(cause, { operation: 'store', channel: link.channel }, line)
    return page(503, 'failed', link, request, deps)
  }
  return page(200, isAll ? 'all' : 'category', link, request, deps)
}

const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i

/** True for the field `scope=all`. A body that is no form, or malformed, counts as a one-click request: mail providers never get an error. */
async function asksForAll({ headers, body }: OpenRequest): Promise<boolean> {
  const type = headerText(headers['content-type'])
  if (!FORM.test(type)) return false
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    return form.get('scope') === 'all'
  } catch {
    return false
  }
}

function page(
  status: number,
  state: PageState,
  { category }: UnsubscribeLink,
  { headers }: OpenRequest,
  { pages, answer }: Prepared,
): Promise<OpenAnswer> {
  return answer(status, pages.render(state, category, headerText(headers['accept-language'])))
}

function plain(status: number, text: string, headers: OpenAnswer['headers'] = {}): OpenAnswer {
  return { status, headers: { ...LINK_HEADERS, 'content-type': 'text/plain; charset=utf-8', ...headers }, text }
}

import { beforeAll, describe, expect, it } from 'vitest'
import { POSTS } from '../../src/actions/table.ts'
import type { OpenApiOperation, OpenApiParameter, OpenApiSchema } from '../../src/openapi/index.ts'
import type { AuthVerifier } from '../../src/ports/auth-verifier.ts'
import { ALL_POSTS, COMMON_CALLS } from '../support/actions.ts'
import { testAuth } from '../support/deps.ts'
import { type ExampleHost, exampleHost } from './host.ts'
import { type Fit, misfits } from './lint.ts'
import { document, jsonOf, post, requestTo } from './posting.ts'

const auth: AuthVerifier = {
  ...testAuth,
  async verify(token, request) {
    if (token !== 'app') return testAuth.verify(token, request)
    return { id: 'app', tenant: 'default', operations: ['dispatch', 'session_run', 'read', 'manage'] }
  },
}

const EVENT = { eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-1', total: 20 } }
const RUN = { sessionId: 's1', run: { runId: 'r1' } }
const ADDRESS = { channel: 'email', address: 'ada@example.com' }

/** A valid body of each operation that needs one. */
const BODIES: Readonly<Record<string, object>> = {
  dispatch: EVENT,
  session_run: RUN,
  session_run_batch: { runs: [RUN] },
  session_token: { grants: {} },
  add_suppression: ADDRESS,
  find_recipient: { recipient: 'user_42' },
  find_suppressions: ADDRESS,
  remove_suppressions: ADDRESS,
}

const ALL_ROUTES = [...ALL_POSTS, ...COMMON_CALLS]
type Route = (typeof ALL_ROUTES)[number]

function operationOf({ path, method }: Route): OpenApiOperation {
  const found = document.paths[path]?.[method === 'GET' ? 'get' : 'post']
  if (!found) throw new Error(`the document has no ${method} ${path}`)
  return found
}

function parametersOf(route: Route, place: 'query' | 'header'): readonly OpenApiParameter[] {
  const shared: Readonly<Record<string, OpenApiParameter>> = document.components.parameters
  const all = operationOf(route).parameters.map((one) =>
    '$ref' in one ? shared[one.$ref.split('/').at(-1) ?? ''] : one,
  )
  return all.flatMap((one) => (one?.in === place ? one : []))
}

function namesOf(route: Route, place: 'query' | 'header'): readonly string[] {
  return parametersOf(route, place)
    .map(({ name }) => name)
    .sort()
}

let host: ExampleHost
let dispatchId = ''

beforeAll(async () => {
  host = exampleHost({ auth, pluginOptions: { consent: {} } })
  dispatchId = String((await jsonOf(await post(host, '/api/outbound/dispatch', EVENT))).dispatchId)
  await post(host, '/api/agents/session/run', RUN)
})

/** A valid request to a route, with more parameters. */
function requestOf(route: Route, query: string, headers: Readonly<Record<string, string>> = {}): Request {
  const path = route.path.replace('{dispatchId}', dispatchId).replace('{sessionId}', 's1').replace('{runId}', 'r1')
  const token = route.name === 'session_token' ? 'session' : 'app'
  const body = JSON.stringify(BODIES[route.name] ?? {})
  return requestTo(`${path}?${query}`, { method: route.method, token, headers, body })
}

/** The same for a route that needs a parameter. */
function send(route: Route, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return host.fetch(requestOf(route, route.name === 'check_budgets' ? 'userId=u1' : '', headers))
}

/** The parameters that a refusal of an unknown one lists. */
function listedIn({ errors }: Record<string, unknown>): readonly string[] {
  const [{ detail = '' } = {}] = errors as readonly { readonly detail?: string }[]
  const [, names] = /query parameters? here (?:is|are) (.*)$/.exec(detail) ?? []
  return (names?.split(', ') ?? []).sort()
}

/** Values of every kind of query parameter, and values beside them. */
const TEXTS = [
  ...['', 'a', 'a'.repeat(2_048), 'a'.repeat(2_049), 'ü', '1 ', 'true', 'false', 'TRUE', '1e2', '1.5'],
  ...['-1', '0', '1', '200', '201', '1h', '15m', '1d', '1w', '-1h', '1H', `${'9'.repeat(10)}h`],
  ...['newest', 'oldest', 'accepted', 'refused', 'manual', 'bounced', 'queued', 'sent', 'running', 'completed'],
]

/** What a client of the document sends as this text. */
function sentAs(text: string, { type }: OpenApiSchema): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return type === 'integer' && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** Valid values that are refused, or the other way round, for a reason that no schema states. */
const BEYOND: Readonly<Record<string, (name: string, text: string) => boolean>> = {
  'an instant has one of two formats': (name) => name === 'since' || name === 'until',
  'a cursor is one that the list gave': (name) => name === 'cursor',
  'the window is a multiple of the step': (name, text) => name === 'step' && text === '1d',
}

describe('the query parameters in the document', () => {
  it('Each operation names exactly the query parameters that it takes', async () => {
    for (const route of ALL_ROUTES) {
      const refusal = await jsonOf(await host.fetch(requestOf(route, 'unheardOf=1')))
      expect([route.name, refusal.code]).toEqual([route.name, 'query_invalid'])
      expect([route.name, listedIn(refusal)]).toEqual([route.name, namesOf(route, 'query')])
    }
  })

  it('Each query parameter takes exactly the values that fit its schema', async () => {
    const fits = new Map<string, Fit>()
    const asked: { readonly of: string; readonly isRefused: boolean; readonly fit: string }[] = []
    for (const route of ALL_ROUTES)
      for (const { name, schema } of parametersOf(route, 'query'))
        for (const text of TEXTS) {
          if (Object.values(BEYOND).some((explains) => explains(name, text))) continue
          const { ok, status } = await host.fetch(requestOf(route, `${name}=${encodeURIComponent(text)}`))
          expect([route.name, name, status]).toEqual([route.name, name, ok ? status : 422])
          const fit = JSON.stringify([schema, text])
          fits.set(fit, { schema, value: sentAs(text, schema) })
          asked.push({ of: `${route.name} ${name}=${text}`, isRefused: !ok, fit })
        }
    const misfit = await misfits([...fits.values()], 'known')
    const unfit = new Set([...fits.keys()].filter((_, at) => misfit.has(at)))
    expect(asked.filter(({ isRefused, fit }) => isRefused !== unfit.has(fit))).toEqual([])
    expect(unfit.size).toBeGreaterThan(100)
  })
})

describe('the header parameters in the document', () => {
  /** A value of each header, and whether an answer shows that the header was read. */
  const PROBES: Readonly<Record<string, readonly [value: string, isRead: (answer: Response) => boolean]>> = {
    'Idempotency-Key': ['a b', ({ status }) => status === 400],
    Prefer: ['return=minimal', ({ headers }) => headers.has('preference-applied')],
    'If-None-Match': ['*', ({ status }) => status === 304],
  }

  it('Each operation names exactly the headers that it takes', async () => {
    for (const route of ALL_ROUTES) {
      const taken: string[] = []
      for (const [name, [value, isRead]] of Object.entries(PROBES))
        if (isRead(await send(route, { [name]: value }))) taken.push(name)
      // A conditional request is documented as an answer.
      const conditional = '304' in operationOf(route).responses ? ['If-None-Match'] : []
      expect([route.name, ...taken.sort()]).toEqual([
        route.name,
        ...[...namesOf(route, 'header'), ...conditional].sort(),
      ])
    }
  })

  it('No other header is read but those of HTTP itself', async () => {
    const read = new Set<string>()
    for (const route of ALL_ROUTES) {
      const request = requestOf(route, '')
      const { headers } = request
      Object.defineProperty(request, 'headers', {
        value: {
          get(name: string) {
            read.add(name.toLowerCase())
            return headers.get(name)
          },
          forEach: () => expect.unreachable('all headers are read'),
        },
      })
      await host.fetch(request)
    }
    const ofHttp = ['authorization', 'content-encoding', 'content-length', 'content-type', 'transfer-encoding']
    const probed = Object.keys(PROBES).map((name) => name.toLowerCase())
    expect([...read].sort()).toEqual([...ofHttp, ...probed].sort())
  })

  it('A key fits the pattern of Idempotency-Key if and only if it is accepted', async () => {
    const { dispatch } = POSTS
    const [parameter] = dispatch ? parametersOf(dispatch, 'header') : []
    if (!dispatch || parameter?.name !== 'Idempotency-Key') throw new Error('there is no such parameter')
    expect(parameter.schema).toEqual({ type: 'string', pattern: expect.any(String) })
    const pattern = new RegExp(String(parameter.schema.pattern), 'u')
    // Headers have no other characters.
    const characters = Array.from({ length: 255 }, (_, at) => String.fromCharCode(at + 1)).filter(
      (one) => !/[\r\n]/.test(one),
    )
    const lengths = [0, 1, 255, 256].map((length) => 'k'.repeat(length))
    const bare = [...lengths, ...characters.map((one) => `a${one}b`), '"a', 'a"', '"', '""a', '""a""']
    const keys = [...bare, ...bare.map((key) => `"${key}"`)]
    const accepted: string[] = []
    for (const key of keys) {
      const { status } = await send(dispatch, { 'Idempotency-Key': key })
      expect([key, status]).toEqual([key, status === 202 ? 202 : 400])
      if (status === 202) accepted.push(key)
    }
    expect(keys.filter((key) => pattern.test(key))).toEqual(accepted)
    expect(accepted.length).toBeGreaterThan(2 * 93)
  })
})

import { describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { type ConsoleOptions, createConsole } from '../../src/console/index.ts'
import { isSallyportError, type Sallyport } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { jsonOf } from '../openapi/posting.ts'
import { filledSallyport } from './filled.ts'

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin', 'x-sallyport-console': '1', 'content-type': 'application/json' }

/** A console at `/ops`, with what the host was told of errors. */
async function opened(options: Partial<ConsoleOptions<Request>> = {}) {
  const told: unknown[][] = []
  const onError = (...of: unknown[]): number => told.push(of)
  const sallyport = await filledSallyport(memoryStore(), { hooks: { onError } })
  const answer = toFetch(createConsole<Request>(sallyport, { access: () => 'operate', ...options }), {
    basePath: '/ops',
  })
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    answer(new Request(`http://127.0.0.1/ops${path}`, { headers }))
  const post = (path: string, body: unknown = {}, headers: Record<string, string> = SAME_ORIGIN): Promise<Response> =>
    answer(new Request(`http://127.0.0.1/ops${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
  return { sallyport, told, answer, get, post, dispatchId: await newestOf(sallyport) }
}

async function newestOf(sallyport: Sallyport): Promise<string> {
  const { items } = await sallyport.dispatches.list({ limit: 1 })
  return items[0]?.dispatchId ?? ''
}

async function scriptOf(page: Response): Promise<string> {
  return /src="(assets\/[^"]+)"/.exec(await page.text())?.[1] ?? ''
}

const PATHS = [
  '',
  '/',
  '/dispatches',
  '/dispatches/dsp_1',
  '/preview',
  '/api/outbound/dispatches',
  '/api/outbound/stats',
]

describe('access', () => {
  it.each(['none', { access: 'none' }] as const)(
    'With the access %j every path is 404, that of a script too',
    async (access) => {
      const script = await scriptOf(await (await opened()).get('/'))
      const { get, post, dispatchId } = await opened({ access: () => access })
      for (const path of [...PATHS, `/${script}`]) expect([path, (await get(path)).status]).toEqual([path, 404])
      expect((await post(`/api/outbound/dispatches/${dispatchId}/cancel`)).status).toBe(404)
    },
  )

  it.each([
    ['throws', () => Promise.reject(new Error('the session store is down'))],
    ['gives no access', () => 'admin' as never],
    ['gives an invalid tenant', () => ({ access: 'read', tenant: 'ü' }) as const],
  ])('When access %s, nothing is shown and onError is told', async (_, access) => {
    const { get, told } = await opened({ access })
    for (const path of PATHS) expect((await get(path)).status).toBe(404)
    expect(told).toHaveLength(PATHS.length)
    expect(told[0]?.[1]).toMatchObject({ operation: 'auth' })
  })

  it('With read a console reads, looks an address up and runs dry, but changes nothing', async () => {
    const { get, post, dispatchId, sallyport } = await opened({ access: () => 'read' })
    expect((await get('/api/outbound/dispatches')).status).toBe(200)
    expect((await post('/api/outbound/suppressions/find', { address: 'bad@example.com' })).status).toBe(200)
    const dry = await post('/api/outbound/dispatch', { eventType: 'order.shipped', recipient: 'jane@example.com' })
    expect(await dry.json()).toMatchObject({ dryRun: true })
    const before = await sallyport.dispatches.list()
    for (const path of [
      `/api/outbound/dispatches/${dispatchId}/cancel`,
      `/api/outbound/dispatches/${dispatchId}/retry`,
      '/api/outbound/suppressions/add',
      '/api/outbound/suppressions/remove',
    ]) {
      const answer = await post(path, {})
      expect([path, answer.status, (await jsonOf(answer)).code]).toEqual([path, 403, 'insufficient_scope'])
    }
    expect(await sallyport.dispatches.list()).toEqual(before)
  })

  it('With operate a dispatch is cancelled', async () => {
    const { post, dispatchId, sallyport } = await opened()
    const answer = await post(`/api/outbound/dispatches/${dispatchId}/cancel`)
    expect(await answer.json()).toMatchObject({ dispatch: { dispatchId, status: 'cancelled' } })
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'cancelled' })
  })

  it('A dry run stays one whatever the query says, and nothing else is posted', async () => {
    const { post, sallyport } = await opened()
    const before = await sallyport.dispatches.list()
    const body = { eventType: 'order.shipped', recipient: 'jane@example.com' }
    const dry = await post('/api/outbound/dispatch?dryRun=false', body)
    expect([dry.status, (await jsonOf(dry)).dryRun]).toEqual([200, true])
    for (const path of ['/api/agents/session/run', '/api/agents/session/token', '/api/outbound/feedback/x'])
      expect([path, (await post(path)).status]).toEqual([path, 404])
    expect(await sallyport.dispatches.list()).toEqual(before)
  })

  it('Two tenants do not see one another', async () => {
    const { get, post, dispatchId } = await opened({ access: () => ({ access: 'operate', tenant: 'other' }) })
    for (const path of [
      'outbound/dispatches',
      'agents/sessions',
      'agents/runs',
      'outbound/suppressions',
      'agents/tokens/uses',
    ])
      expect(await (await get(`/api/${path}`)).json()).toEqual({ items: [] })
    expect((await get(`/api/outbound/dispatches/${dispatchId}`)).status).toBe(404)
    expect((await get('/api/outbound/dispatches?tenant=default')).status).toBe(422)
    expect((await post(`/api/outbound/dispatches/${dispatchId}/cancel`, { tenant: 'default' })).status).toBe(422)
    expect((await post(`/api/outbound/dispatches/${dispatchId}/cancel`)).status).toBe(404)
  })

  it('The request of the host reaches access, with its cookies', async () => {
    const { get } = await opened({ access: ({ headers }) => (headers.get('cookie') === 'staff=1' ? 'read' : 'none') })
    expect((await get('/')).status).toBe(404)
    expect((await get('/', { cookie: 'staff=1' })).status).toBe(200)
  })
})

describe('a POST of another site', () => {
  it.each([
    ['without headers', {}],
    ['from another site', { ...SAME_ORIGIN, 'sec-fetch-site': 'cross-site' }],
    ['from another origin of the site', { ...SAME_ORIGIN, 'sec-fetch-site': 'same-site' }],
    ['by hand', { ...SAME_ORIGIN, 'sec-fetch-site': 'none' }],
    ['of a form', { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' }],
  ])('A POST %s changes nothing', async (_, headers) => {
    const { post, dispatchId, sallyport } = await opened()
    for (const path of [
      `/api/outbound/dispatches/${dispatchId}/cancel`,
      '/api/outbound/suppressions/find',
      '/api/outbound/dispatch',
    ]) {
      const answer = await post(path, {}, headers as Record<string, string>)
      expect([answer.status, (await jsonOf(answer)).code]).toEqual([403, 'insufficient_scope'])
    }
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'queued' })
  })
})

describe('headers', () => {
  it('A page has the strict policy, is not framed and not kept', async () => {
    const { get } = await opened()
    const { headers } = await get('/dispatches')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'none'",
    )
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('A preview is a sandbox of its own', async () => {
    const { get } = await opened()
    const policy = (await get('/preview')).headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^sandbox allow-scripts; default-src 'none'; script-src 'sha256-[\w+/=]{44}'; /)
    expect(policy).not.toMatch(/allow-same-origin|https:|\*/)
  })

  it('A script is kept for good under the name of its content; another name is 404', async () => {
    const { get } = await opened()
    const script = await scriptOf(await get('/'))
    const answer = await get(`/${script}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(answer.headers.get('cache-control')).toBe('private, max-age=31536000, immutable')
    for (const path of ['/assets/main.js', '/assets/__proto__', `/${script}/x`])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })

  it('An unchanged answer is 304', async () => {
    const { get } = await opened()
    const first = await get('/api/outbound/dispatches')
    const again = await get('/api/outbound/dispatches', { 'if-none-match': first.headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it('The console without its last slash redirects', async () => {
    const { get } = await opened()
    const answer = await get('')
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '/ops/'])
  })

  it('Titles, users and tenants are escaped', async () => {
    const user = '"><script>alert(1)</script>'
    const { get } = await opened({ title: user, access: () => ({ access: 'read', user, tenant: '"><b>' }) })
    const text = await (await get('/')).text()
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('<b>')
  })
})

describe('redact', () => {
  it('A hidden value is in no answer: not of lists, details, previews and refusals', async () => {
    const hidden = 'jane@example.com'
    const { get, post, sallyport } = await opened({
      redact: (value, { field }) => (field === 'recipient' || field === 'html' || field === 'number' ? '•••' : value),
    })
    const { items } = await sallyport.dispatches.list({ recipient: hidden })
    const { dispatchId = '' } = items[0] ?? {}
    const answers = [
      await get('/api/outbound/dispatches'),
      await get(`/api/outbound/dispatches/${dispatchId}?content=true`),
      await get('/api/agents/sessions/s1/timeline'),
      await post('/api/outbound/dispatch', { eventType: 'order.shipped', recipient: hidden }),
    ]
    for (const answer of answers) {
      const text = await answer.text()
      expect(answer.status).toBe(200)
      expect(text).not.toContain(hidden)
      expect(text).not.toContain('On its way</p>')
    }
  })

  it('A redactor that throws is a coded problem that shows nothing, and onError is told', async () => {
    const { get, told } = await opened({
      redact: (value) => {
        throw new Error(`cannot hide ${value}`)
      },
    })
    const answer = await get('/api/outbound/dispatches')
    const text = await answer.text()
    expect([answer.status, JSON.parse(text).code]).toEqual([500, 'internal_error'])
    expect(text).not.toContain('example.com')
    expect(told.map(([, context]) => context)).toEqual([expect.objectContaining({ operation: 'redactor' })])
  })
})

describe('bad input', () => {
  it.each([
    ['/api/outbound/dispatches?wrong=1', 422],
    ['/api/outbound/dispatches?cursor=foreign', 422],
    ['/api/outbound/stats?window=999d', 422],
    ['/api/outbound/stats?step=1s', 422],
    ['/api/outbound/dispatches/%00', 404],
    ['/api/agents/sessions/%ED%A0%80', 404],
    ['/api/nothing', 404],
  ])('%s is %i', async (path, status) => {
    const { get } = await opened()
    const answer = await get(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json'])
  })

  it('A body that is no JSON is refused', async () => {
    const { answer, dispatchId } = await opened()
    const url = `http://127.0.0.1/ops/api/outbound/dispatches/${dispatchId}/retry`
    const refused = await answer(new Request(url, { method: 'POST', headers: SAME_ORIGIN, body: '{' }))
    expect([refused.status, (await jsonOf(refused)).code]).toEqual([400, 'invalid_json'])
  })

  it('Wrong options are reported all at once', async () => {
    const sallyport = await filledSallyport(memoryStore())
    try {
      createConsole(sallyport, { title: '', path: 'ops', redact: 1, acces: 1 } as never)
      expect.unreachable()
    } catch (error) {
      expect(isSallyportError(error) && error.problems.map(({ field }) => field).sort()).toEqual([
        'acces',
        'access',
        'path',
        'redact',
        'title',
      ])
    }
  })
})

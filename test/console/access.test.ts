import express from 'express'
import { describe, expect, it } from 'vitest'
import { CALLS } from '../../src/actions/table.ts'
import { toExpress } from '../../src/adapters/express.ts'
import { isOffered } from '../../src/console/console-api.ts'
import { createConsole } from '../../src/console/index.ts'
import { isRefused } from '../../src/core/answers/result.ts'
import { isSallyportError } from '../../src/index.ts'
import { sha256 } from '../../src/model/sha256.ts'
import { systemClock } from '../../src/runtime/system-clock.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { jsonOf } from '../openapi/posting.ts'
import { ALL_CALLS } from '../support/actions.ts'
import { recordingLogger } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { serve } from './console-server.ts'
import { filledSallyport } from './filled.ts'
import { opened, SAME_ORIGIN } from './opened.ts'

async function scriptOf(page: Response): Promise<string> {
  return /src="(assets\/[^"]+)"/.exec(await page.text())?.[1] ?? ''
}

function fail(): never {
  throw new Error('the session store is down')
}

function revoked(): { access: 'operate' } {
  const { proxy, revoke } = Proxy.revocable({ access: 'operate' as const }, {})
  revoke()
  return proxy
}

/** Actions that change something. */
const OFFERED = ALL_CALLS.filter(isOffered)
const MANAGING = OFFERED.filter(({ operation }) => operation === 'manage')

/** Actions by `POST`, and a dispatch that only runs dry. */
const POSTING = [...OFFERED.filter(({ method }) => method === 'POST'), { path: '/api/outbound/dispatch' }]

const PATHS = [
  '',
  '/',
  '/dispatches',
  '/dispatches/dsp_1',
  '/preview',
  '/api/outbound/dispatches',
  '/api/outbound/events',
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
    ['gives nothing', () => undefined as never],
    ['gives a list', () => ['operate'] as never],
    ['throws at once', () => fail()],
    ['rejects with nothing', () => Promise.reject()],
    [
      'gives a getter that throws',
      () => ({
        get access() {
          return fail()
        },
      }),
    ],
    ['gives a proxy that throws', () => new Proxy({ access: 'operate' as const }, { get: fail })],
    ['gives a revoked proxy', () => revoked()],
  ])('When access %s, nothing is shown and onError is told', async (_, access) => {
    const { get, told } = await opened({ access })
    for (const path of PATHS) expect((await get(path)).status).toBe(404)
    expect(told).toHaveLength(PATHS.length)
    expect(told[0]?.[1]).toEqual({ operation: 'auth' })
  })

  it('An access that is still pending after ten seconds shows nothing, and onError is told', async () => {
    const clock = fakeClock(Date.now())
    const { get, told } = await opened({ access: () => new Promise(() => {}) }, { clock })
    const answer = get('/api/outbound/dispatches')
    await clock.advance(10_000)
    expect((await answer).status).toBe(404)
    expect(told).toEqual([
      [expect.objectContaining({ name: 'TimeoutError' }), expect.objectContaining({ operation: 'auth' })],
    ])
  })

  it('A change whose body arrives after the access has ended is not made', async () => {
    const clock = fakeClock(Date.now())
    let access: 'operate' | 'none' = 'operate'
    const { answer, dispatchId, sallyport } = await opened({ access: () => access }, { clock })
    const { readable, writable } = new TransformStream<Uint8Array>()
    const init = { method: 'POST', headers: SAME_ORIGIN, body: readable, duplex: 'half' } as const
    const url = `http://127.0.0.1/ops/api/outbound/dispatches/${dispatchId}/cancel`
    const pending = answer(new Request(url, init))
    const writer = writable.getWriter()
    await writer.write(new TextEncoder().encode('{'))
    access = 'none'
    await clock.advance(1_000)
    await writer.write(new TextEncoder().encode('}'))
    await writer.close()
    expect((await pending).status).toBe(404)
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'queued' })
  })

  it('The body of a request without access is not read', async () => {
    const { answer } = await opened({ access: () => 'none' })
    const endless = new ReadableStream({ pull: () => new Promise<void>(() => {}) })
    const init = { method: 'POST', headers: SAME_ORIGIN, body: endless, duplex: 'half' } as const
    const request = new Request('http://127.0.0.1/ops/api/outbound/dispatch', init)
    expect((await answer(request)).status).toBe(404)
  })

  it('With read a console reads and runs dry, but changes nothing', async () => {
    const { get, post, dispatchId, sallyport } = await opened({ access: () => 'read' })
    expect((await get('/api/outbound/dispatches')).status).toBe(200)
    const dry = await post('/api/outbound/dispatch', { eventType: 'order.shipped', recipient: 'jane@example.com' })
    expect(await dry.json()).toMatchObject({ dryRun: true })
    const before = await sallyport.dispatches.list()
    for (const { path: row } of MANAGING) {
      const path = row.replace('{dispatchId}', dispatchId)
      const answer = await post(path, {})
      expect([path, answer.status, (await jsonOf(answer)).code]).toEqual([path, 403, 'insufficient_scope'])
    }
    expect(await sallyport.dispatches.list()).toEqual(before)
  })

  it('At most a hundred checks of access run at once: a request beyond is 503 at once, and its body is not read', async () => {
    const held: ((level: 'operate') => void)[] = []
    const access = (): Promise<'operate'> => new Promise((resolve) => held.push(resolve))
    const logger = recordingLogger()
    const { get, answer } = await opened({ access }, { logger })
    const waiting = Array.from({ length: 100 }, () => get('/preview'))
    await expect.poll(() => held.length).toBe(100)
    const endless = new ReadableStream({ pull: () => new Promise<void>(() => {}) })
    const init = { method: 'POST', headers: SAME_ORIGIN, body: endless, duplex: 'half' } as const
    const refused = await answer(new Request('http://127.0.0.1/ops/api/outbound/dispatch', init))
    expect([refused.status, refused.headers.get('retry-after'), (await jsonOf(refused)).code]).toEqual([
      ...[503, '1', 'overloaded'],
    ])
    expect(held).toHaveLength(100)
    expect(logger.lines.filter(({ event }) => event === 'load.shed')).toMatchObject([
      { fields: { authenticating: 100 } },
    ])
    for (const grant of held.splice(0)) grant('operate')
    for (const page of await Promise.all(waiting)) expect(page.status).toBe(200)
    const next = get('/preview')
    await expect.poll(() => held.length).toBe(1)
    held[0]?.('operate')
    expect((await next).status).toBe(200)
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', undefined])(
    'A POST of the type %s is 415, and changes nothing',
    async (type) => {
      const { 'content-type': _, ...proofs } = SAME_ORIGIN
      const { answer, dispatchId, sallyport } = await opened()
      const headers = { ...proofs, ...(type !== undefined && { 'content-type': type }) }
      const body = new TextEncoder().encode('{}')
      for (const path of [`outbound/dispatches/${dispatchId}/cancel`, 'outbound/dispatch']) {
        const refused = await answer(new Request(`http://127.0.0.1/ops/api/${path}`, { method: 'POST', headers, body }))
        expect([refused.status, (await jsonOf(refused)).code]).toEqual([415, 'unsupported_media_type'])
      }
      expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'queued' })
    },
  )

  it('A form that a parser of the host has read is 415 too', async () => {
    const { sallyport, dispatchId } = await opened()
    const app = express().use(express.urlencoded())
    app.use('/ops', toExpress(createConsole(sallyport, { access: () => 'operate' })))
    const host = await serve(app, '/ops')
    const headers = { ...SAME_ORIGIN, 'content-type': 'application/x-www-form-urlencoded' }
    const refused = await fetch(`${host.url}api/outbound/dispatches/${dispatchId}/cancel`, { method: 'POST', headers })
    expect(refused.status).toBe(415)
    await host.close()
  })

  it('With operate a dispatch is cancelled', async () => {
    const { post, dispatchId, sallyport } = await opened()
    const answer = await post(`/api/outbound/dispatches/${dispatchId}/cancel`)
    expect(await answer.json()).toMatchObject({ dispatch: { dispatchId, status: 'cancelled' } })
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'cancelled' })
  })

  it('An event is previewed, never dispatched, and nothing else is posted', async () => {
    const { post, sallyport } = await opened()
    const before = await sallyport.dispatches.list()
    const body = { eventType: 'order.shipped', recipient: 'jane@example.com' }
    for (const [query, status, code] of [
      ['', 200, undefined],
      ['?dryRun=true', 200, undefined],
      ['?dryRun=false', 403, 'insufficient_scope'],
      ['?dryRun=true&dryRun=false', 403, 'insufficient_scope'],
      ['?dryRun=true&x=1', 422, 'query_invalid'],
    ] as const) {
      const answer = await post(`/api/outbound/dispatch${query}`, body)
      expect([query, answer.status, (await jsonOf(answer)).code]).toEqual([query, status, code])
    }
    for (const path of ['/api/agents/session/run', '/api/agents/session/token', '/api/outbound/feedback/x'])
      expect([path, (await post(path)).status]).toEqual([path, 404])
    expect(await sallyport.dispatches.list()).toEqual(before)
  })

  it('Two tenants do not see one another', async () => {
    const { get, post, dispatchId } = await opened({ access: () => ({ access: 'operate', tenant: 'other' }) })
    for (const path of ['outbound/dispatches', 'agents/sessions', 'agents/runs'])
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

it('An action that is not for the console is not there', async () => {
  const { get, post } = await opened()
  for (const { name, method, path } of ALL_CALLS.filter((action) => !isOffered(action))) {
    const answer = method === 'GET' ? await get(path) : await post(path, {})
    expect([name, answer.status, (await jsonOf(answer)).code]).toEqual([name, 404, 'not_found'])
  }
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
    for (const { path: row } of POSTING) {
      const path = row.replace('{dispatchId}', dispatchId)
      const answer = await post(path, {}, headers as Record<string, string>)
      expect([answer.status, (await jsonOf(answer)).code]).toEqual([403, 'insufficient_scope'])
    }
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'queued' })
  })
})

describe('a read of another site', () => {
  it.each(['cross-site', 'same-site'])(
    'A read that is %s is refused, also behind permissive CORS of the host',
    async (site) => {
      const { get } = await opened()
      const answer = await get('/api/outbound/dispatches', { 'sec-fetch-site': site })
      expect([answer.status, (await jsonOf(answer)).code]).toEqual([403, 'insufficient_scope'])
    },
  )

  it.each(['cross-site', 'same-site'])(
    'A page that is %s may link to the console, but not read its pages, files and previews',
    async (site) => {
      const { get } = await opened()
      const script = await scriptOf(await get('/'))
      for (const path of ['/', '/dispatches', '/preview', `/${script}`]) {
        const read = await get(path, { 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' })
        expect([path, read.status, (await jsonOf(read)).code]).toEqual([path, 403, 'insufficient_scope'])
        const followed = await get(path, { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' })
        expect([path, followed.status]).toEqual([path, 200])
      }
    },
  )

  it.each(['same-origin', 'none'])('A read that is %s is answered', async (site) => {
    const { get } = await opened()
    expect((await get('/api/outbound/dispatches', { 'sec-fetch-site': site })).status).toBe(200)
  })
})

describe('the path', () => {
  it.each([
    ['//api/outbound/dispatches', 200, 'text/html; charset=utf-8'],
    ['/%61pi/outbound/dispatches', 200, 'text/html; charset=utf-8'],
    ['/%252e%252e/api/outbound/dispatches', 200, 'text/html; charset=utf-8'],
    ['/api%2foutbound/dispatches', 200, 'text/html; charset=utf-8'],
    ['/api/outbound%2fdispatches', 404, 'application/problem+json'],
    ['/api//outbound/dispatches', 404, 'application/problem+json'],
    ['/api/outbound/openapi.json', 404, 'application/problem+json'],
  ])('%s is %i, and holds no data of the host', async (path, status, type) => {
    const { get } = await opened({ access: () => 'read' })
    const answer = await get(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type])
    expect(await answer.text()).not.toContain('example.com')
  })

  it.each([
    ['', './ops/'],
    ['?next=//evil.example', './ops/'],
    ['/', './'],
    ['/dispatches', './'],
    ['/dispatches/', '../'],
    ['/dispatches/dsp_1', '../'],
    ['/sessions/s1/runs/r1', '../../../'],
    ['//evil.example', '../'],
    ['//evil.example//', '../../../'],
    ['/%5C%5Cevil.example/x', '../'],
  ])('At %j all URLs of the page are relative to %j', async (path, base) => {
    const { get } = await opened()
    const answer = await get(path)
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null])
    expect(await answer.text()).toContain(`<base href="${base}">`)
  })

  it.each(['http://evil.example/ops', '//evil.example/ops', '/\\evil.example/ops', '/a/"><script>/ops'])(
    'A host that passes the URL %j on gets a page with URLs of its own',
    async (url) => {
      const { sallyport } = await opened()
      const { endpoints } = createConsole(sallyport, { access: () => 'read' })
      const found = await endpoints.open?.[0]?.find('', { method: 'GET', headers: {}, url, given: [] })
      if (!found || isRefused(found)) throw new Error('there is no endpoint')
      const answer = await found.handle({ method: 'GET', headers: {}, url, given: [], body: new Uint8Array() })
      expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('<base href="./ops/">') })
    },
  )

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'POST'])('%s on a page is 405', async (method) => {
    const { answer } = await opened()
    const refused = await answer(new Request('http://127.0.0.1/ops/dispatches', { method }))
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it.each(['PUT', 'DELETE', 'GET', 'HEAD'])('%s on a change is 405, and changes nothing', async (method) => {
    const { answer, dispatchId, sallyport } = await opened()
    const url = `http://127.0.0.1/ops/api/outbound/dispatches/${dispatchId}/cancel`
    const refused = await answer(new Request(url, { method, headers: SAME_ORIGIN }))
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'queued' })
  })

  it('HEAD has the headers of GET and no text', async () => {
    const { answer, get } = await opened()
    for (const path of ['/', '/preview', '/api/outbound/dispatches']) {
      const head = await answer(new Request(`http://127.0.0.1/ops${path}`, { method: 'HEAD' }))
      expect([...head.headers]).toEqual([...(await get(path)).headers])
      expect(await head.text()).toBe('')
    }
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

  it('Nothing but a script or a style is kept, and no other site loads anything', async () => {
    const { get, post, dispatchId } = await opened()
    const answers = [
      await get('/'),
      await get('/preview'),
      await get('/api/outbound/dispatches'),
      await get('/api/outbound/dispatches', { 'if-none-match': '*' }),
      await get('/api/outbound/dispatches/dsp_none'),
      await get('/api/nothing'),
      await get('/assets/none.js'),
      await post(`/api/outbound/dispatches/${dispatchId}/cancel`),
      await post('/dispatches'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 304, 404, 404, 404, 200, 405])
    for (const { headers } of answers) {
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('content-security-policy')).toMatch(/default-src 'none'/)
    }
  })

  it('Titles, users and tenants are escaped', async () => {
    const user = '"><script>alert(1)</script>'
    const { get } = await opened({ title: user, access: () => ({ access: 'read', user, tenant: '"><b>' }) })
    const text = await (await get('/')).text()
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('<b>')
  })
})

function cycle(): object {
  const own: Record<string, unknown> = {}
  own.own = own
  return own
}

describe('redact', () => {
  it('A hidden value is in no answer: not of lists, details, timelines and previews', async () => {
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

  it('A value that a condition read, and the value that it expected, have the name of the data', async () => {
    const event = { eventType: 'order.shipped', recipient: 'jane@example.com', eventData: { urgent: 'a secret' } }
    const { get, post, sallyport } = await opened({
      redact: (value, { field }) => (field === 'urgent' ? '•••' : value),
    })
    const dispatched = await sallyport.dispatch(event)
    const { dispatchId } = dispatched.body as { readonly dispatchId: string }
    for (const answer of [
      await get(`/api/outbound/dispatches/${dispatchId}`),
      await post('/api/outbound/dispatch', event),
    ]) {
      const text = await answer.text()
      expect([answer.status, text]).toEqual([200, expect.stringContaining('"path":"data.urgent"')])
      expect(text).toContain('"actual":"•••"')
      expect(text).toContain('"expected":"•••"')
      expect(text).not.toContain('a secret')
    }
  })

  it('The cursor of a page stays, so that the next page can be read', async () => {
    const { get } = await opened({ redact: () => '•••' })
    const { next } = (await jsonOf(await get('/api/outbound/dispatches?limit=1'))) as { readonly next?: string }
    const second = await get(`/api/outbound/dispatches?limit=1&cursor=${encodeURIComponent(next ?? '')}`)
    expect([second.status, (await jsonOf(second)).items]).toEqual([200, [expect.anything()]])
  })

  it('The entity tag is that of the redacted text, so it tells nothing of what is hidden', async () => {
    const { get } = await opened({ redact: () => '•••' })
    const answer = await get('/api/agents/sessions')
    const text = await answer.text()
    expect(answer.headers.get('etag')).toBe(`"${(await sha256(text)).slice(0, 32)}"`)
  })

  it.each([
    ['undefined', () => undefined],
    ['a big integer', () => 1n],
    ['a number that JSON has not', () => Number.NaN],
    ['a promise', async () => 'hidden'],
    ['a function', () => () => 'hidden'],
    ['a list', (value: unknown) => [value]],
    ['a cycle', () => cycle()],
    ['a text much longer than the value', () => 'x'.repeat(10_001)],
  ])('A redactor that gives %s is a coded problem that shows nothing, and onError is told', async (_, redact) => {
    const { get, told } = await opened({ redact: redact as never })
    const answer = await get('/api/outbound/dispatches')
    const text = await answer.text()
    expect([answer.status, JSON.parse(text).code]).toEqual([500, 'internal_error'])
    expect(text).not.toContain('example.com')
    expect(told).toEqual([[expect.any(TypeError), expect.objectContaining({ operation: 'redactor' })]])
  })

  it('A redactor may give a text, a number, a flag and null, and a text as long as the value', async () => {
    const given = ['•••', 0, false, null]
    const { get } = await opened({ redact: (_, { pointer }) => given[pointer.length % 4] ?? null })
    expect((await get('/api/outbound/dispatches')).status).toBe(200)
  })

  it('A slow redactor lets other requests of the host run in between', async () => {
    let now = Date.now()
    let turns = 0
    const clock = { ...systemClock, now: () => now }
    const { get } = await opened(
      {
        redact(value) {
          now += 20
          return value
        },
      },
      { clock },
    )
    const count = (): void => {
      turns += 1
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    await get('/api/outbound/dispatches')
    clearImmediate(timer)
    expect(turns).toBeGreaterThan(10)
  })

  it.each([
    ['an error', (value: unknown) => new Error(`cannot hide ${value}`)],
    ['nothing', () => undefined],
  ])('A redactor that throws %s is a coded problem that shows nothing, and onError is told', async (_, thrown) => {
    const { get, told } = await opened({
      redact: (value) => {
        throw thrown(value)
      },
    })
    const answer = await get('/api/outbound/dispatches')
    const text = await answer.text()
    expect([answer.status, JSON.parse(text).code]).toEqual([500, 'internal_error'])
    expect(text).not.toContain('example.com')
    expect(told.map(([, context]) => context)).toEqual([expect.objectContaining({ operation: 'redactor' })])
  })
})

describe('onChange', () => {
  it('Each change is told once, with its user and the request of the host, and the rest is not', async () => {
    const changes: unknown[] = []
    const { get, post, dispatchId, sallyport } = await opened({
      access: () => ({ access: 'operate', user: 'Ada' }),
      onChange: (change, { headers }) => changes.push([change, headers.get('x-sallyport-console')]),
    })
    const { items } = await sallyport.dispatches.list({ status: 'failed', limit: 1 })
    const failedId = items[0]?.dispatchId ?? ''
    // Each is asked for twice: the second request changes nothing.
    for (const [path, body] of [
      [`dispatches/${dispatchId}/cancel`, {}],
      [`dispatches/${failedId}/retry`, {}],
    ] as const)
      for (const _ of [1, 2]) expect((await post(`/api/outbound/${path}`, body)).status).toBe(200)
    await get('/api/outbound/dispatches')
    await post('/api/outbound/dispatch', { eventType: 'order.shipped', recipient: 'jane@example.com' })
    await post('/api/outbound/dispatches/dsp_none/cancel')
    await post(`/api/outbound/dispatches/${dispatchId}/cancel`, { wrong: 1 })
    const by = { user: 'Ada', tenant: 'default', count: 1 }
    expect(changes).toEqual([
      [{ action: 'cancel_dispatch', ...by, dispatchId }, '1'],
      [{ action: 'retry_dispatch', ...by, dispatchId: failedId }, '1'],
    ])
    const managing = CALLS.filter(({ operation }) => operation === 'manage').map(({ name }) => name)
    expect(changes.map((told) => Object(told)[0].action)).toEqual(managing)
  })

  it.each([
    ['throws', () => fail()],
    ['rejects', () => Promise.reject(new Error('the log is full'))],
  ])('An onChange that %s does not alter the answer, and onError is told', async (_, onChange) => {
    const { post, dispatchId, told } = await opened({ onChange })
    const answer = await post(`/api/outbound/dispatches/${dispatchId}/cancel`)
    expect(await answer.json()).toMatchObject({ dispatch: { dispatchId, status: 'cancelled' } })
    expect(told).toEqual([[expect.any(Error), expect.objectContaining({ operation: 'hook' })]])
  })

  it('A change is told also when its answer cannot be redacted', async () => {
    const changes: unknown[] = []
    const { post, dispatchId } = await opened({ onChange: (change) => changes.push(change), redact: fail })
    expect((await post(`/api/outbound/dispatches/${dispatchId}/cancel`)).status).toBe(500)
    expect(changes).toMatchObject([{ action: 'cancel_dispatch', dispatchId }])
  })
})

describe('bad input', () => {
  it.each([
    ['/api/outbound/dispatches?wrong=1', 422],
    ['/api/outbound/dispatches?cursor=foreign', 422],
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

  it('A body longer than any change needs is refused', async () => {
    const { post, dispatchId } = await opened()
    const refused = await post(`/api/outbound/dispatches/${dispatchId}/cancel`, { why: 'x'.repeat(5_000) })
    expect([refused.status, (await jsonOf(refused)).code]).toEqual([413, 'body_too_large'])
  })

  it('Wrong options are reported all at once', async () => {
    const sallyport = await filledSallyport(memoryStore())
    try {
      createConsole(sallyport, { title: '', onChange: 1, redact: 1, acces: 1 } as never)
      expect.unreachable()
    } catch (error) {
      expect(isSallyportError(error) && error.problems.map(({ field }) => field).sort()).toEqual([
        'acces',
        'onChange',
        'redact',
        'title',
      ])
    }
  })
})

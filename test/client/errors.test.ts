import { inspect } from 'node:util'
import { ClientError, type ClientOptions, createClient, isClientError } from 'sallyport/client'
import { createReadClient } from 'sallyport/client/read'
import { memoryStore } from 'sallyport/storage/memory'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { type events, type Scripted, startHost, startScripted, stopServers } from './servers.ts'

afterEach(stopServers)

const EVENT = { eventType: 'ping', recipient: 'jane@example.com' }

const errorOf = (options: ClientOptions): Promise<ClientError> =>
  createClient({ retries: 0, timeoutMs: UNHURRIED_MS, ...options })
    .dispatch(EVENT)
    .then(
      () => Promise.reject(new Error('it was accepted')),
      (error) => error,
    )

describe('a problem', () => {
  test('A problem becomes an error with its code, status and details', async () => {
    const { url } = await startHost()
    const client = createClient<typeof events>({ baseUrl: url, token: 'app' })
    const call = client.dispatch({
      eventType: 'order.shipped',
      recipient: 'a@b.example',
      eventData: { orderId: 'A' } as never,
    })
    const error = await call.catch((thrown) => thrown)
    if (!isClientError(error)) throw error
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'ClientError', code: 'validation_failed', status: 422 })
    expect(error.message).toBe(`${error.problem?.detail}\n- /eventData/total is required`)
    expect(error.problem?.errors?.[0]?.pointer).toBe('/eventData/total')
  })

  test('The error of an unavailable store has a retry delay', async () => {
    const logger = { log: () => {} }
    const { url } = await startHost({
      logger,
      store: { ...memoryStore(), accept: () => Promise.reject(new Error('down')) },
    })
    expect(await errorOf({ baseUrl: url, token: 'app' })).toMatchObject({
      code: 'store_unavailable',
      status: 503,
      retryAfterMs: expect.any(Number),
    })
  })
})

describe('retryable errors', () => {
  const answered = (status: number): Scripted => ({
    status,
    body: { type: 'urn:sallyport:problem:invalid_token', code: 'invalid_token', status },
  })
  test.each<[string, Scripted, boolean, Partial<ClientOptions>?]>([
    ['no answer', 'reset', true],
    ['a time-out', 'hang', true, { timeoutMs: 50 }],
    ['a page with status 200', { status: 200, body: '<h1>Sign in</h1>' }, true],
    ['a redirect', { status: 304 }, true],
    ['status 399', { status: 399 }, true],
    ['status 400', answered(400), false],
    ['a bad constant token', answered(401), false],
    ['a bad token from a token function', answered(401), true, { token: () => 'next' }],
    ['an insufficient scope', answered(403), false, { token: () => 'next' }],
    ['status 408', answered(408), true],
    ['status 409', answered(409), false],
    ['status 429', answered(429), true],
    ['a page with status 499', { status: 499 }, false],
    ['status 500', answered(500), true],
    ['status 503', answered(503), true],
  ])('The client sets `retryable` correctly for %s', async (_, answer, retryable, options) => {
    const { url } = await startScripted(answer)
    expect(await errorOf({ baseUrl: url, token: 'app', ...options })).toMatchObject({ retryable })
  })
})

describe('answers of other servers', () => {
  const JSON_TYPE = { 'content-type': 'application/json' }
  test.each<[string, Scripted, number]>([
    ['a page of a proxy', { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' }, 502],
    [
      'a page with status 200',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' },
      200,
    ],
    ['a 404 of the host', { status: 404, body: { error: 'not found', code: 'not_found' } }, 404],
    ['JSON of another server', { status: 200, headers: JSON_TYPE, body: { hello: 'there' } }, 200],
    ['JSON with a token, as of a sign-in', { status: 200, headers: JSON_TYPE, body: { token: 'a' } }, 200],
    ['a null body', { status: 200, body: 'null' }, 200],
    ['a JSON string', { status: 200, body: '"warnings"' }, 200],
    ['an empty answer', { status: 204 }, 204],
    ['a problem of another server', { status: 422, body: { type: 'about:blank', code: 'event_unknown' } }, 422],
  ])('The client reports bad_answer for %s', async (_, answer, status) => {
    const { url } = await startScripted(answer)
    const error = await errorOf({ baseUrl: url, token: 'app' })
    expect(error).toMatchObject({ code: 'bad_answer', status })
    expect(error.message).toContain(`No answer of Sallyport: status ${status}`)
    expect(error.problem).toBeUndefined()
    expect(error.message).not.toContain('<')
  })

  test('exchangeToken accepts an answer with a token, and none with only warnings', async () => {
    const exchanged = { token: 'narrow', expiresAt: '2026-11-21T08:00:00.000Z' }
    const { url } = await startScripted({ status: 201, body: exchanged }, { status: 201, body: { warnings: [] } })
    const client = createClient({ baseUrl: url, token: 'app', retries: 0 })
    expect(await client.exchangeToken({ grants: {} })).toEqual(exchanged)
    await expect(client.exchangeToken({ grants: {} })).rejects.toMatchObject({ code: 'bad_answer', status: 201 })
  })

  test('The client reports a network error for an answer that breaks off', async () => {
    const { url } = await startHost({}, (request, response) => {
      response.writeHead(202, { 'content-length': '100' }).write('{ "dispatchId"', () => request.socket.destroy())
      return true
    })
    expect(await errorOf({ baseUrl: url, token: 'app' })).toMatchObject({
      code: 'network',
      message: expect.stringMatching(/^The answer broke off: [A-Z_]+$/),
    })
  })

  test('The message of bad_answer names the content type and what to check', async () => {
    const { url } = await startScripted(
      { status: 404, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<h1>' },
      { status: 200, headers: { 'content-type': '<secret>' }, body: '<h1>' },
    )
    const check = '. Check baseUrl, and any proxy'
    const messages = [await errorOf({ baseUrl: url, token: 'app' }), await errorOf({ baseUrl: url, token: 'app' })]
    expect(messages.map(({ message }) => message)).toEqual([
      `No answer of Sallyport: status 404, text/html${check}`,
      `No answer of Sallyport: status 200, no content-type${check}`,
    ])
  })

  test('The message of a network error names its code, if it has one', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`
    expect(await errorOf({ baseUrl, token: 'app' })).toMatchObject({ message: 'No answer: ECONNREFUSED' })
    for (const cause of [new Error('secret'), Object.assign(new Error(), { code: 'a secret' }), undefined]) {
      const fetch = () => Promise.reject(cause)
      expect(await errorOf({ baseUrl, token: 'app', fetch })).toMatchObject({ message: 'No answer' })
    }
  })
})

describe('a token', () => {
  const CANARY = 'canary-4f7d'
  const shown = async (options: ClientOptions): Promise<string> => {
    const error = await errorOf(options)
    return [inspect(error, { depth: 9, showHidden: true }), error.stack, JSON.stringify(error)].join('\n')
  }

  test.each<[string, Scripted, Partial<ClientOptions>?]>([
    [
      'the server refuses it',
      { status: 401, body: { type: 'urn:sallyport:problem:invalid_token', code: 'invalid_token' } },
    ],
    ['the answer is bad', { status: 502, body: 'no' }],
    ['the connection breaks', 'reset'],
    ['no answer comes', 'hang', { timeoutMs: 50 }],
  ])('No error contains the token when %s', async (_, answer, options) => {
    const { url } = await startScripted(answer)
    expect(await shown({ baseUrl: url, token: CANARY, ...options })).not.toContain(CANARY)
  })

  test('No error contains the token when no server listens', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`
    expect(await shown({ baseUrl, token: () => CANARY })).not.toContain(CANARY)
  })

  test.each([`${CANARY}\n${CANARY}`, `${CANARY}é\u0000`, `${CANARY}☃`])(
    'No error contains a token that is not a valid header value',
    async (token) => {
      const { url } = await startScripted({ status: 500 })
      expect(await shown({ baseUrl: url, token })).not.toContain(CANARY)
    },
  )

  test('No error contains the token when the given fetch quotes it', async () => {
    const own: ClientOptions['fetch'] = (_, { headers }) =>
      Promise.reject(new Error(`cannot send ${headers.authorization}`))
    expect(await shown({ baseUrl: 'http://host.example', token: CANARY, fetch: own })).not.toContain(CANARY)
  })
})

describe('a base URL', () => {
  test.each([
    ['https://user:hunter2@host.example/v1', 'https://host.example/v1'],
    ['https://hunter2@host.example', 'https://host.example'],
    ['//user:hunter2@host.example/@team', '//host.example/@team'],
    ['https://host.example/@team', 'https://host.example/@team'],
    ['/@team', '/@team'],
  ])('The client calls a base URL without its password: %s', async (baseUrl, used) => {
    const own: ClientOptions['fetch'] = (url) => Promise.reject(new Error(url))
    const { cause } = await errorOf({ baseUrl, token: 'app', fetch: own })
    expect(cause).toEqual(new Error(`${used}/api/outbound/dispatch`))
  })
})

describe('a base URL with more than what stands before /api/', () => {
  const refusals = (baseUrl: string | URL) =>
    [createClient, createReadClient].map((create) => {
      try {
        create({ baseUrl, token: 'app' })
        return 'accepted'
      } catch (error) {
        return isClientError(error) ? [error.code, error.message.replace(/^\w+: /, '')] : error
      }
    })

  test.each<[string | URL, string]>([
    ['http://localhost:3000/api/outbound/dispatch', 'http://localhost:3000'],
    ['https://host.example/v1/api', 'https://host.example/v1'],
    ['https://host.example/v1/api/', 'https://host.example/v1'],
    [new URL('https://host.example/api/agents/session/run'), 'https://host.example'],
    ['https://host.example/api/agents/session/run/batch/', 'https://host.example'],
    ['https://user:hunter2@host.example/api/outbound/dispatch?key=hunter2', 'https://host.example'],
    ['https://host.example/v1?key=hunter2', 'https://host.example/v1'],
    ['https://host.example/v1#part', 'https://host.example/v1'],
    ['/api', '/'],
  ])('%s is refused, and the error names the right one', (baseUrl, right) => {
    const refusal = ['option_invalid', `baseUrl must be only what stands before /api/: ${right}`]
    expect(refusals(baseUrl)).toEqual([refusal, refusal])
  })

  test.each([
    'https://host.example/api/v2',
    'https://api.example/',
    'https://host.example/apis',
    'https://host.example/my-api',
  ])('%s is accepted', (baseUrl) => expect(refusals(baseUrl)).toEqual(['accepted', 'accepted']))
})

describe('options that are unset or incomplete', () => {
  test.each<[object, string]>([
    [{ baseUrl: 'localhost:3180' }, 'baseUrl is a string; needs http:// or https://'],
    [{ baseUrl: 'ftp://host.example' }, 'baseUrl is a string; needs http:// or https://'],
    [{ baseUrl: '' }, 'baseUrl is an empty string; needs http:// or https://'],
    [{ baseUrl: undefined }, 'baseUrl is undefined; needs http:// or https://'],
    [{ token: '' }, 'token is an empty string; is its environment variable set?'],
    [{ token: undefined }, 'token is undefined; is its environment variable set?'],
  ])('%j is refused when the client is made', (options, sentence) => {
    const given = { baseUrl: 'http://host.example', token: 'app', ...options } as ClientOptions
    expect(() => createClient(given)).toThrow(sentence)
  })

  test('An error names the places of the body, without names that may be data', async () => {
    const errors = ['/run/metadata/jane', '/run'].map((pointer) => ({ pointer, detail: 'is odd' }))
    const body = { type: 'urn:sallyport:problem:validation_failed', code: 'validation_failed', detail: 'Odd.', errors }
    const own: ClientOptions['fetch'] = async () => new Response(JSON.stringify(body), { status: 422 })
    const { message } = await errorOf({ baseUrl: 'http://host.example', token: 'app', fetch: own })
    expect(message).toBe('Odd.\n- /run/metadata is odd\n- /run is odd')
  })
})

describe('isClientError', () => {
  test('isClientError() accepts errors of another copy of the package', async () => {
    const path = '../../src/client/client-error.ts?copy'
    const copy: typeof import('../../src/client/client-error.ts') = await import(/* @vite-ignore */ path)
    const error = new copy.ClientError('network', 'No answer')
    expect(error).not.toBeInstanceOf(ClientError)
    expect(isClientError(error)).toBe(true)
  })

  test.each([undefined, null, 'network', new Error('network'), { name: 'ClientError', code: 'network' }])(
    'isClientError() refuses other values: %s',
    (error) => expect(isClientError(error)).toBe(false),
  )
})

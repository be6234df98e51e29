import { describe, expect, test } from 'vitest'
import { refuse } from '../../src/core/answers/result.ts'
import { type LoadLimits, loadOf } from '../../src/core/load/load-limits.ts'
import { type Arrival, answer } from '../../src/http/answer.ts'
import type { BodySink, HostBody } from '../../src/http/body-reader.ts'
import { mountOnce } from '../../src/http/mount.ts'
import { parameterOf } from '../../src/http/routes.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'

const TENANT = { tenant: 'default', id: 'app' }

function started(limits: LoadLimits = {}) {
  const endpoints = new FakeEndpoints()
  Object.assign(endpoints, { load: loadOf(limits, endpoints.logger) })
  return {
    endpoints,
    async send(arrival: Partial<Arrival> = {}, action = 'feedback') {
      const open = endpoints.open.find(({ name }) => name === action)
      if (!open) throw new Error(`There is no endpoint of ${action}`)
      const target = { open, parameter: 'name' }
      const { status, text } = await answer(endpoints, target, { ...arrivalOf(textBody('a')), ...arrival })
      return { status, code: JSON.parse(text).code }
    },
  }
}

function arrivalOf(body: HostBody): Arrival {
  return { method: 'POST', url: '/', headers: {}, given: [], body: () => body, hasLeft: () => false }
}

function textBody(value: string): HostBody {
  return { kind: 'left', value }
}

describe('the load of open endpoints', () => {
  test('Requests of strangers leave places to the requests of a tenant', async () => {
    const { endpoints, send } = started({ maxInFlight: 4 })
    let answerNow = (): void => {}
    endpoints.held = new Promise((resolve) => {
      answerNow = resolve
    })
    const sent = Array.from({ length: 6 }, () => send())
    const refused = await Promise.all(sent.slice(4))
    expect(refused).toEqual([
      { status: 503, code: 'overloaded' },
      { status: 503, code: 'overloaded' },
    ])
    const unsubscribing = send({}, 'unsubscribe')
    const places = ['app 1', 'app 2'].map((id) =>
      endpoints.load.flight.tryAcquire({ ...TENANT, id }, { hasLeft: () => false }),
    )
    expect(places).toEqual([true, true])
    answerNow()
    const answered = await Promise.all([...sent.slice(0, 4), unsubscribing])
    expect(answered.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  })

  test('A full endpoint refuses a request before its body is read', async () => {
    const { endpoints, send } = started({ maxInFlight: 1 })
    let answerNow = (): void => {}
    endpoints.held = new Promise((resolve) => {
      answerNow = resolve
    })
    const handled = new Promise<void>((resolve) => {
      endpoints.onHandle = resolve
    })
    const first = send()
    await handled
    const body = (): never => {
      throw new Error('The body was read.')
    }
    expect(await send({ body })).toEqual({ status: 503, code: 'overloaded' })
    answerNow()
    expect((await first).status).toBe(200)
  })

  test('A handler that fails releases its place', async () => {
    const { endpoints, send } = started({ maxInFlight: 1 })
    endpoints.held = Promise.reject(new Error('broken'))
    for (let times = 0; times < 3; times++) await expect(send()).rejects.toThrow('broken')
    endpoints.held = undefined
    expect((await send()).status).toBe(200)
  })

  test('The unfinished body of a stranger gives way to the body of a tenant', async () => {
    const { endpoints, send } = started({ maxUnfinished: 1 })
    const sinks: BodySink[] = []
    const pump = (sink: BodySink) => {
      sinks.push(sink)
      return () => {}
    }
    const slow = send({ body: () => ({ kind: 'stream', pump }) })
    await endpoints.clock.pending(1)
    expect(endpoints.load.bodies.begin(TENANT, () => {})).toBeDefined()
    expect(await slow).toEqual({ status: 503, code: 'overloaded' })
    expect(endpoints.opened).toEqual([])
  })

  test('The newest body of strangers takes the place of the oldest one of the same endpoint', async () => {
    const { endpoints, send } = started({ maxUnfinished: 2 })
    const sinks: BodySink[] = []
    const pump = (sink: BodySink) => {
      sinks.push(sink)
      return () => {}
    }
    const slow = (): ReturnType<typeof send> => send({ body: () => ({ kind: 'stream', pump }) })
    const sent = [slow(), slow(), slow()]
    expect(await sent[0]).toEqual({ status: 503, code: 'overloaded' })
    await endpoints.clock.pending(2)
    for (const sink of sinks) sink.end()
    expect(await Promise.all(sent.slice(1))).toMatchObject([{ status: 200 }, { status: 200 }])
  })

  test('Endpoints with other names have places of their own', async () => {
    const { endpoints, send } = started({ maxUnfinished: 2 })
    const sinks: BodySink[] = []
    const pump = (sink: BodySink) => {
      sinks.push(sink)
      return () => {}
    }
    const slow = (name: string): ReturnType<typeof send> => {
      endpoints.openMembers = { name }
      return send({ body: () => ({ kind: 'stream', pump }) })
    }
    const flooded = [slow('a'), slow('a'), slow('b'), slow('a'), slow('a')]
    expect(await Promise.all([flooded[0], flooded[1], flooded[3]])).toEqual(
      Array(3).fill({ status: 503, code: 'overloaded' }),
    )
    for (const sink of sinks) sink.end()
    expect((await flooded[2])?.status).toBe(200)
  })

  test('A head that is refused is answered before the body is read', async () => {
    const { endpoints, send } = started()
    endpoints.openRefusal = refuse('proof_invalid', 'No proof.')
    const body = (): never => {
      throw new Error('The body was read.')
    }
    expect(await send({ body })).toEqual({ status: 401, code: 'proof_invalid' })
    endpoints.openRefusal = undefined
    expect((await send()).status).toBe(200)
  })

  test('An endpoint may have a smaller limit than its route', async () => {
    const { endpoints, send } = started()
    endpoints.openMembers = { maxBytes: 4 }
    expect((await send({ body: () => textBody('four') })).status).toBe(200)
    expect(await send({ body: () => textBody('fives') })).toEqual({ status: 413, code: 'body_too_large' })
    const declared = { headers: { 'content-length': '5' }, body: () => textBody('five!') }
    expect(await send(declared)).toEqual({ status: 413, code: 'body_too_large' })
  })
})

describe('the body of an open endpoint', () => {
  test.each(['abc', '-5', '', '1.5'])('A Content-Length of %j is refused', async (length) => {
    const { send } = started()
    expect(await send({ headers: { 'content-length': length } })).toEqual({ status: 400, code: 'invalid_json' })
  })

  test.each<[string, HostBody, string | undefined, string | undefined]>([
    ['bytes', { kind: 'left', value: Buffer.from('é') }, undefined, 'é'],
    ['text', textBody('é'), '2', 'é'],
    ['text decoded with a loss', textBody('\uFFFD'), '1', undefined],
    ['text without its byte order mark', textBody('a'), '4', undefined],
    ['a value with its bytes', { kind: 'left', value: { a: 1 }, raw: Buffer.from('{"a":1 }') }, '8', '{"a":1 }'],
    ['a value with its text', { kind: 'left', value: { a: 1 }, raw: '{"a":1 }' }, '8', '{"a":1 }'],
    ['text with its bytes', { kind: 'left', value: '\uFFFD', raw: Buffer.from('é') }, '2', 'é'],
    ['bytes with a rawBody of another kind', { kind: 'left', value: Buffer.from('é'), raw: true }, '2', 'é'],
    ['bytes alone', { kind: 'consumed', raw: Buffer.from('é') }, '2', 'é'],
    ['a value', { kind: 'left', value: { a: 1 } }, '7', undefined],
    ['a value, chunked', { kind: 'left', value: { a: 1 } }, undefined, undefined],
    ['a value of an empty body', { kind: 'left', value: {} }, '0', ''],
    ['null', { kind: 'left', value: null }, '4', undefined],
    ['nothing', { kind: 'consumed' }, '4', undefined],
  ])('The exact bytes, or a refusal, follow from what the host left: %s', async (_, body, length, bytes) => {
    const { endpoints, send } = started()
    const reply = await send({ headers: { 'content-length': length }, body: () => body })
    if (bytes === undefined) expect(reply).toEqual({ status: 500, code: 'body_already_consumed' })
    expect(endpoints.opened.map((opened) => Buffer.from(opened.body).toString())).toEqual(
      bytes === undefined ? [] : [bytes],
    )
  })

  test.each<[string, HostBody]>([
    ['bytes', { kind: 'left', value: new Uint8Array(1_048_577) }],
    ['text', textBody('é'.repeat(524_289))],
    ['kept bytes', { kind: 'left', value: {}, raw: new Uint8Array(1_048_577) }],
  ])('A body over the limit is refused as %s of the host', async (_, body) => {
    const { send } = started()
    expect(await send({ body: () => body })).toEqual({ status: 413, code: 'body_too_large' })
  })

  test.each<[string, HostBody, string]>([
    ['a form', { kind: 'left', value: { scope: 'a b', other: '&=' } }, 'scope=a+b&other=%26%3D'],
    ['nested values', { kind: 'left', value: { scope: 'all', list: ['a'], deep: { a: 'b' } } }, 'scope=all'],
    ['null', { kind: 'left', value: null }, ''],
  ])('Unsubscribe gets a parsed body as a form: %s', async (_, body, form) => {
    const { endpoints, send } = started()
    const headers = { 'content-type': 'application/json', 'x-other': '1' }
    expect((await send({ headers, body: () => body }, 'unsubscribe')).status).toBe(200)
    expect(Buffer.from(endpoints.opened[0]?.body ?? []).toString()).toBe(form)
    expect(endpoints.opened[0]?.headers).toEqual({
      'content-type': 'application/x-www-form-urlencoded',
      'x-other': '1',
    })
  })

  test('Unsubscribe refuses a parsed body over its limit', async () => {
    const { send } = started()
    const body = (): HostBody => ({ kind: 'left', value: { a: 'b' } })
    const headers = { 'content-length': '65537' }
    expect(await send({ headers, body }, 'unsubscribe')).toEqual({ status: 413, code: 'body_too_large' })
  })

  test('Unsubscribe gets kept bytes as they are, with their own type', async () => {
    const { endpoints, send } = started()
    const headers = { 'content-type': 'text/plain' }
    await send({ headers, body: () => ({ kind: 'left', value: { a: 'b' }, raw: 'a=%62' }) }, 'unsubscribe')
    expect(endpoints.opened[0]?.headers).toEqual(headers)
    expect(Buffer.from(endpoints.opened[0]?.body ?? []).toString()).toBe('a=%62')
  })

  test.each(['GET', 'HEAD'])('The body of a %s is not read', async (method) => {
    const { endpoints, send } = started()
    const body = (): never => {
      throw new Error('The body was read.')
    }
    const headers = { 'content-length': '9', 'content-encoding': 'gzip' }
    expect((await send({ method, headers, body }, 'unsubscribe')).status).toBe(200)
    expect(endpoints.opened).toMatchObject([{ method, body: new Uint8Array(0) }])
  })
})

test.each([
  ['https://a.example:8443/v1/x/?a=%20#b', '/v1/x/?a=%20'],
  ['/x?a=https://b', '/x?a=https://b'],
  ['https://a.example', ''],
])('The handler gets the path and query of %s', async (url, seen) => {
  const { endpoints, send } = started()
  await send({ url })
  expect(endpoints.opened).toMatchObject([{ url: seen }])
})

test('A mount of endpoints without open ones leaves their paths to the host', () => {
  const endpoints = new FakeEndpoints()
  const path = '/api/outbound/feedback/ses'
  expect(mountOnce('toNode', { endpoints }).match(path)).toMatchObject({ parameter: 'ses' })
  const without = Object.assign(new FakeEndpoints(), { open: undefined }) as never
  expect(mountOnce('toNode', { endpoints: without }).match(path)).toBeUndefined()
})

test('A parameter is one part of a path, decoded once', () => {
  expect(['a', '%25%32%35', 'a%2Fb', 'ä', '.', '..'].map(parameterOf)).toEqual(['a', '%25', 'a/b', 'ä', '.', '..'])
  expect(['', 'a/b', '%', '%zz', '%c3', 'x'.repeat(2_049)].map(parameterOf)).toEqual(Array(6).fill(undefined))
})

import * as v from 'valibot'
import { beforeEach, describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Operation } from '../../src/model/principal.ts'
import type { AuthVerifier } from '../../src/ports/auth-verifier.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger } from '../support/deps.ts'
import { everyPlugin } from '../support/every-plugin.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

/** Accepts tokens such as `read.manage~tenant` and, of a session, `read~tenant/s1`. */
const auth: AuthVerifier = {
  async verify(token) {
    const [, operations = '', tenant = 'default', sessionId] = /^([a-z_.]+)(?:~(\w+))?(?:\/(\w+))?$/.exec(token) ?? []
    return {
      id: token,
      tenant,
      operations: operations.split('.') as Operation[],
      ...(sessionId !== undefined && { sessionId }),
    }
  },
}

const events = defineEvents({
  'order.shipped': {
    data: v.object({ total: v.number() }),
    channels: {
      email: { subject: () => 'Shipped', text: ({ data }) => `Total ${data.total}` },
      sms: { when: ({ data }) => data.total >= 100, text: () => 'Shipped' },
    },
  },
  'shop.closed': { channels: { email: { subject: () => 'Closed', text: () => 'Closed' } } },
})

interface Asked {
  readonly token?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test reads other members.
  readonly json: any
}

type Ask = (path: string, asked?: Asked) => Promise<Answered>

function host(options: Partial<SallyportOptions<unknown>> = {}): {
  readonly sallyport: Sallyport<unknown>
  readonly ask: Ask
  readonly clock: FakeClock
} {
  const clock = fakeClock()
  const sallyport = createSallyport<unknown>({
    ...{ auth, events, store: memoryStore({ clock }), clock, logger: recordingLogger() },
    channels: {
      email: recordingChannel(),
      sms: recordingChannel(undefined, { address: ({ phone }) => phone }),
    },
    plugins: everyPlugin(),
    ...options,
  })
  const handle = toFetch(sallyport)
  return {
    sallyport,
    clock,
    async ask(path, { token = 'read', method = 'GET', headers, body } = {}) {
      const answer = await handle(
        new Request(`http://shop.test${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      )
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) }
    },
  }
}

const ORDER = { eventType: 'order.shipped', recipient: 'jane@example.com', eventData: { total: 20 }, sessionId: 's1' }
const DISPATCHES = '/api/outbound/dispatches'

async function dispatchId(sallyport: Sallyport<unknown>, event: object = {}, tenant = 'default'): Promise<string> {
  const result = await sallyport.dispatch({ ...ORDER, ...event } as never, { tenant })
  if (!result.ok) throw new Error(result.body.code)
  return result.body.dispatchId
}

let sallyport: Sallyport<unknown>
let ask: Ask
let clock: FakeClock
beforeEach(() => {
  const fresh = host()
  sallyport = fresh.sallyport
  ask = fresh.ask
  clock = fresh.clock
})

describe('reading dispatches', () => {
  it('Dispatches are listed in pages, newest first', async () => {
    const ids = [await dispatchId(sallyport), await dispatchId(sallyport), await dispatchId(sallyport)]
    const first = await ask(`${DISPATCHES}?limit=2`)
    expect(first.status).toBe(200)
    expect(first.json.items.map((item: { dispatchId: string }) => item.dispatchId)).toEqual([ids[2], ids[1]])
    const second = await ask(`${DISPATCHES}?limit=2&cursor=${encodeURIComponent(first.json.next)}`)
    expect(second.json).toEqual({ items: [expect.objectContaining({ dispatchId: ids[0] })] })
  })

  it('Filters are combined', async () => {
    await dispatchId(sallyport)
    const wanted = await dispatchId(sallyport, { eventType: 'shop.closed', sessionId: 's2', eventData: {} })
    const query = 'channel=email&status=queued&eventType=shop.closed&recipient=jane%40example.com&sessionId=s2'
    const times = 'since=2020-01-01T00:00:00Z&until=32503680000000'
    const { json } = await ask(`${DISPATCHES}?${query}&${times}`)
    expect(json.items.map((item: { dispatchId: string }) => item.dispatchId)).toEqual([wanted])
    expect((await ask(`${DISPATCHES}?channel=fax`)).json).toEqual({ items: [] })
    expect((await ask(`${DISPATCHES}?${query}&until=2020-01-01T00:00:00Z`)).json).toEqual({ items: [] })
  })

  it('A dispatch is shown with its attempts and the trace of conditions', async () => {
    const id = await dispatchId(sallyport)
    await sallyport.worker.runDue()
    const { status, json } = await ask(`${DISPATCHES}/${id}`)
    expect(status).toBe(200)
    expect(json).toEqual(await sallyport.dispatches.get(id))
    expect(json.deliveries).toMatchObject([
      { status: 'sent', attemptLog: [{ outcome: 'sent' }] },
      { status: 'skipped', trace: [{ result: false }] },
    ])
    expect(JSON.stringify(json)).not.toContain('Total 20')
  })

  it('Content and the masked address are shown only with content=true', async () => {
    const id = await dispatchId(sallyport)
    const { json } = await ask(`${DISPATCHES}/${id}?content=true`)
    expect(json.deliveries[0]).toMatchObject({
      address: 'j…@example.com',
      content: { subject: 'Shipped', text: 'Total 20' },
    })
    expect((await ask(`${DISPATCHES}/${id}?content=false`)).json.deliveries[0]).not.toHaveProperty('content')
  })

  it('A read with the entity tag of an unchanged answer is answered 304', async () => {
    const id = await dispatchId(sallyport)
    const first = await ask(`${DISPATCHES}/${id}`)
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"\w{32}"$/)
    const same = await ask(`${DISPATCHES}/${id}`, { headers: { 'if-none-match': `"other", W/${tag}` } })
    expect([same.status, same.json, same.headers.get('etag')]).toEqual([304, undefined, tag])
    await sallyport.worker.runDue()
    expect((await ask(`${DISPATCHES}/${id}`, { headers: { 'if-none-match': tag } })).status).toBe(200)
  })

  it('HEAD answers like GET, without a body', async () => {
    const { status, json, headers } = await ask(DISPATCHES, { method: 'HEAD' })
    expect([status, json, headers.get('content-length')]).toEqual([200, undefined, '12'])
  })
})

describe('changes of dispatches', () => {
  it('A member of `null` is absent', async () => {
    const id = await dispatchId(sallyport)
    const body = { channel: null }
    const retried = await ask(`${DISPATCHES}/${id}/retry`, { method: 'POST', token: 'manage', body })
    expect([retried.status, retried.json.retried]).toEqual([200, []])
    const unknown = await ask(`${DISPATCHES}/${id}/retry`, { method: 'POST', token: 'manage', body: { chanel: null } })
    expect([unknown.status, unknown.json.errors[0].pointer]).toEqual([422, '/chanel'])
  })

  it('A dispatch is cancelled, without a body or with an empty one', async () => {
    const id = await dispatchId(sallyport)
    const first = await ask(`${DISPATCHES}/${id}/cancel`, { method: 'POST', token: 'manage' })
    expect([first.status, first.json.cancelled, first.json.dispatch.status]).toEqual([
      200,
      [expect.objectContaining({ channel: 'email', status: 'cancelled' })],
      'cancelled',
    ])
    const again = await ask(`${DISPATCHES}/${id}/cancel`, { method: 'POST', token: 'manage', body: {} })
    expect([again.status, again.json.cancelled]).toEqual([200, []])
  })

  it('A failed delivery is retried on one channel', async () => {
    const failing = { address: () => 'x', send: async () => ({ outcome: 'rejected' as const, code: 'no' }) }
    const { sallyport, ask } = host({ channels: { email: failing, sms: failing } })
    const id = await dispatchId(sallyport, { eventData: { total: 200 } })
    await sallyport.worker.runDue()
    const retried = await ask(`${DISPATCHES}/${id}/retry`, {
      method: 'POST',
      token: 'manage',
      body: { channel: 'sms' },
    })
    expect([retried.status, retried.json.retried]).toEqual([
      200,
      [expect.objectContaining({ channel: 'sms', status: 'queued' })],
    ])
  })

  it.each([
    [{ chanel: 'sms' }, '/chanel'],
    [{ tenant: 'other' }, '/tenant'],
    [{ channel: 1 }, '/channel'],
    [[], ''],
    ['sms', ''],
  ])('A retry with the body %j is refused and retries nothing', async (body, pointer) => {
    const id = await dispatchId(sallyport)
    const { status, json } = await ask(`${DISPATCHES}/${id}/retry`, { method: 'POST', token: 'manage', body })
    expect([status, json.code, json.errors[0].pointer]).toEqual([422, 'validation_failed', pointer])
  })
})

describe('reading sessions and runs', () => {
  beforeEach(async () => {
    const post = (sessionId: string, runId: string, more: object = {}): Promise<Answered> =>
      ask('/api/agents/session/run', {
        method: 'POST',
        token: 'session_run',
        body: { sessionId, run: { runId, model: 'm1', ...more } },
      })
    await post('s1', 'r1')
    await post('s1', 'r2', { parentRunId: 'r1', status: 'failed' })
    clock.advance(1)
    await post('s/2', 'r3')
    await dispatchId(sallyport)
  })

  it('Sessions are listed in pages, newest first, with their totals', async () => {
    const first = await ask('/api/agents/sessions?limit=1')
    expect(first.json.items).toMatchObject([{ sessionId: 's/2', runs: { total: 1 } }])
    const { json } = await ask(`/api/agents/sessions?cursor=${encodeURIComponent(first.json.next)}`)
    expect(json).toEqual({ items: [expect.objectContaining({ sessionId: 's1', runs: expect.anything() })] })
    expect(json.items[0]).not.toHaveProperty('tree')
    expect((await ask('/api/agents/sessions?until=2020-01-01T00:00:00Z')).json).toEqual({ items: [] })
  })

  it('A session is shown with its tree and timeline', async () => {
    const { status, json } = await ask('/api/agents/sessions/s1')
    expect([status, json]).toEqual([200, await sallyport.sessions.get('s1')])
    expect(json.tree).toMatchObject([{ runId: 'r1', children: [{ runId: 'r2' }] }])
  })

  it('The parts of a path are decoded', async () => {
    expect((await ask('/api/agents/sessions/s%2F2')).json.sessionId).toBe('s/2')
    expect((await ask('/api/agents/sessions/s%2F2/runs/r3')).json).toMatchObject({ sessionId: 's/2', runId: 'r3' })
  })

  it('A timeline is read in pages, oldest first', async () => {
    const first = await ask('/api/agents/sessions/s1/timeline?limit=2')
    expect(first.json.items.map((item: { type: string }) => item.type)).toEqual(['run', 'run'])
    const next = await ask(`/api/agents/sessions/s1/timeline?cursor=${encodeURIComponent(first.json.next)}`)
    expect(next.json.items).toMatchObject([{ type: 'dispatch' }])
  })

  it.each([
    ['/api/agents/sessions/s1/runs', ['r2', 'r1']],
    ['/api/agents/sessions/s1/runs?first=oldest', ['r1', 'r2']],
    ['/api/agents/sessions/s1/runs?status=failed', ['r2']],
    ['/api/agents/runs', ['r3', 'r2', 'r1']],
    ['/api/agents/runs?sessionId=s1&model=m1&limit=1', ['r2']],
    ['/api/agents/runs?tag=x', []],
  ])('%s lists %j', async (path, ids) => {
    const { status, json } = await ask(path)
    expect([status, json.items.map((item: { runId: string }) => item.runId)]).toEqual([200, ids])
  })

  it('A run is shown by its session and id', async () => {
    expect((await ask('/api/agents/sessions/s1/runs/r2')).json).toMatchObject({ runId: 'r2', status: 'failed' })
  })
})

describe('access to the read API', () => {
  it.each([
    [DISPATCHES, 'GET', 'manage'],
    [DISPATCHES, 'GET', 'dispatch.session_run'],
    [`${DISPATCHES}/dsp_1`, 'GET', 'read~default/s1'],
    [`${DISPATCHES}/dsp_1/cancel`, 'POST', 'read'],
    [`${DISPATCHES}/dsp_1/retry`, 'POST', 'manage~default/s1'],
    ['/api/agents/sessions/s1', 'GET', 'session_run~default/s1'],
    ['/api/agents/runs', 'GET', 'read~default/s1'],
  ])('%s %s is refused to %s', async (path, method, token) => {
    const { status, json } = await ask(path, { method, token })
    expect([status, json.code]).toEqual([403, 'insufficient_scope'])
  })

  it('Another tenant sees and changes nothing', async () => {
    const id = await dispatchId(sallyport)
    await ask('/api/agents/session/run', {
      method: 'POST',
      token: 'session_run',
      body: { sessionId: 's1', run: { runId: 'r1' } },
    })
    const token = 'read.manage~other'
    for (const path of [DISPATCHES, '/api/agents/runs', '/api/agents/sessions/s1/timeline'])
      expect((await ask(path, { token })).json).toEqual({ items: [] })
    for (const path of [`${DISPATCHES}/${id}`, '/api/agents/sessions/s1', '/api/agents/sessions/s1/runs/r1'])
      expect((await ask(path, { token })).status).toBe(404)
    for (const change of ['cancel', 'retry'])
      expect((await ask(`${DISPATCHES}/${id}/${change}`, { token, method: 'POST' })).status).toBe(404)
    expect(await sallyport.dispatches.get(id)).toMatchObject({ status: 'queued' })
  })

  it('A host that only records runs answers 404 for dispatches', async () => {
    const { endpoints } = createSallyport({ auth, store: memoryStore() })
    const handle = toFetch({ endpoints } as never)
    const headers = { authorization: 'Bearer read' }
    const statuses = [DISPATCHES, '/api/outbound/events', '/api/agents/runs'].map(
      async (path) => (await handle(new Request(`http://shop.test${path}`, { headers }))).status,
    )
    expect(await Promise.all(statuses)).toEqual([404, 404, 200])
  })
})

describe('bad input of the read API', () => {
  it.each([
    [`${DISPATCHES}?statsu=sent`, ''],
    [`${DISPATCHES}?tenant=other`, ''],
    [`${DISPATCHES}?__proto__=1`, ''],
    [`${DISPATCHES}?status=gone`, '/status'],
    [`${DISPATCHES}?status=sent&status=failed`, '/status'],
    [`${DISPATCHES}?recipient=`, '/recipient'],
    [`${DISPATCHES}?recipient=%00`, '/recipient'],
    [`${DISPATCHES}?since=yesterday`, '/since'],
    [`${DISPATCHES}?since=1795244400`, '/since'],
    [`${DISPATCHES}?limit=0`, '/limit'],
    [`${DISPATCHES}?limit=201`, '/limit'],
    [`${DISPATCHES}?limit=1e1`, '/limit'],
    [`${DISPATCHES}?cursor=x`, '/cursor'],
    [`${DISPATCHES}/dsp_1?content=yes`, '/content'],
    [`${DISPATCHES}/dsp_1?x=1`, ''],
    ['/api/agents/runs?first=any', '/first'],
  ])('%s is refused with a pointer to the parameter', async (path, pointer) => {
    const { status, json } = await ask(path)
    expect([status, json.code, json.errors[0].pointer]).toEqual([422, 'query_invalid', pointer])
    expect(JSON.stringify(json)).not.toMatch(/statsu|yesterday|gone/)
  })

  it('All malformed parameters are refused at once', async () => {
    const { json } = await ask(`${DISPATCHES}?since=x&limit=0&status=sent&status=failed`)
    expect(json.errors).toMatchObject([
      { pointer: '/since', code: 'format' },
      { pointer: '/limit', code: 'format' },
      { pointer: '/status', code: 'type' },
    ])
  })

  it('A cursor of another list is refused', async () => {
    for (const _ of [1, 2]) await dispatchId(sallyport)
    const { json } = await ask(`${DISPATCHES}?limit=1`)
    const foreign = await ask(`/api/agents/runs?cursor=${encodeURIComponent(json.next)}`)
    expect([foreign.status, foreign.json.errors[0].pointer]).toEqual([422, '/cursor'])
  })

  it.each([
    ['/dsp_1', 'not_found'],
    ['/%00', 'not_found'],
    [`/${'x'.repeat(2_048)}`, 'not_found'],
    ['/%ED%A0%80', 'not_found'],
    ['/a/b/c', 'not_found'],
  ])('The dispatch %s is not found', async (id, code) => {
    const { status, json } = await ask(DISPATCHES + id)
    expect([status, json.code]).toEqual([404, code])
  })

  it('An unknown session is not found', async () => {
    expect((await ask('/api/agents/sessions/s9')).json.code).toBe('session_not_found')
    for (const rest of ['', '/timeline', '/runs'])
      expect((await ask(`/api/agents/sessions/%00${rest}`)).json.code).toBe('session_not_found')
    for (const query of ['status=bogus', 'cursor=x'])
      expect((await ask(`/api/agents/sessions/%00/runs?${query}`)).json.code).toBe('session_not_found')
    expect((await ask('/api/agents/sessions/s9/runs')).json).toEqual({ items: [] })
    expect((await ask('/api/agents/sessions/s9/runs/%00')).json.code).toBe('not_found')
  })

  it.each([
    [DISPATCHES, 'POST', 'GET, HEAD'],
    [`${DISPATCHES}/dsp_1`, 'DELETE', 'GET, HEAD'],
    [`${DISPATCHES}/dsp_1/cancel`, 'GET', 'POST'],
  ])('%s %s is answered 405', async (path, method, allow) => {
    const { status, headers } = await ask(path, { method })
    expect([status, headers.get('allow')]).toEqual([405, allow])
  })

  it('A store that is down is answered 503', async () => {
    const down = async (): Promise<never> => {
      throw new Error('it is down')
    }
    const { ask } = host({ store: { ...memoryStore(), listDispatches: down } })
    const { status, json } = await ask(DISPATCHES)
    expect([status, json.code]).toEqual([503, 'store_unavailable'])
  })
})

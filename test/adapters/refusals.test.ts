import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/catalog/define-events.ts'
import { liquid } from '../../src/engines/liquid.ts'
import type { SallyportOptions } from '../../src/options.ts'
import { createSallyport, type Sallyport } from '../../src/sallyport.ts'
import { memoryStore } from '../../src/storage/memory.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { call } from '../support/host-call.ts'
import { hosts, type RunningHost } from '../support/hosts.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const DISPATCH = '/api/outbound/dispatch'
const RUN = '/api/agents/session/run'
const NUL = String.fromCharCode(0)

const events = defineEvents(
  {
    'order.shipped': {
      data: v.object({ orderId: v.string() }),
      channels: { email: { subject: 'Order {{ data.orderId }}' }, sms: { text: ({ data }) => data.orderId } },
    },
    'order.paid': { channels: { email: { subject: 'Paid on {{ data.day }}' } } },
  },
  { templates: liquid() },
)

function sallyport(rest: Partial<SallyportOptions<unknown>> = {}): Sallyport {
  return createSallyport<unknown>({
    auth: testAuth,
    events,
    store: memoryStore(),
    channels: { email: recordingChannel(), sms: recordingChannel(), push: recordingChannel() },
    recipients: {
      async find(id) {
        if (id === 'user_broken') throw new Error('the directory is down')
        return id === 'user_42' ? { id, email: 'ada@example.com' } : undefined
      },
    },
    logger: recordingLogger(),
    ...rest,
  }) as Sallyport
}

/** One way to be refused: what is sent beside a good token, and what comes back. */
interface Row {
  readonly path: string
  readonly token?: string | undefined
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly answer: { status: number; code: string; pointers?: string[]; headers?: Record<string, string> }
  /** Hosts whose own parser answers this one itself, before Sallyport is asked. */
  readonly parserAnswers?: RegExp
}

const ANY_PARSER = /^(?:Express|Koa|node)/

const event = { eventType: 'order.shipped', recipient: 'ada@example.com', eventData: { orderId: 'A1' } }
const run = { sessionId: 's1', run: { runId: 'r1' } }
const challenge = (error?: string) => ({
  'www-authenticate': `Bearer realm="sallyport"${error ? `, error="${error}"` : ''}`,
})
const bodyRow = (path: string, body: unknown, code: string, ...pointers: string[]): Row => ({
  path,
  body,
  answer: { status: code === 'run_identity_conflict' ? 409 : 422, code, pointers },
})
const runRow = (fields: object, ...pointers: string[]): Row =>
  bodyRow(RUN, { ...run, run: { ...run.run, ...fields } }, 'validation_failed', ...pointers)

const rows: Record<string, Row> = {
  'no token': {
    path: DISPATCH,
    token: undefined,
    body: event,
    answer: { status: 401, code: 'unauthorized', headers: challenge() },
  },
  'an unknown token': {
    path: RUN,
    token: 'stranger',
    body: run,
    answer: { status: 401, code: 'invalid_token', headers: challenge('invalid_token') },
  },
  'a malformed token': { path: RUN, token: 'two words', body: run, answer: { status: 401, code: 'invalid_token' } },
  'a verifier that is down': {
    path: RUN,
    token: 'broken',
    body: run,
    answer: { status: 503, code: 'auth_unavailable', headers: { 'retry-after': '1' } },
  },
  'a session token that may not dispatch': {
    path: DISPATCH,
    token: 'session',
    body: event,
    answer: { status: 403, code: 'insufficient_scope', headers: challenge('insufficient_scope') },
  },
  "a session token for another session's run": {
    path: RUN,
    token: 'session',
    body: { ...run, sessionId: 's2' },
    answer: { status: 403, code: 'insufficient_scope' },
  },
  'a recipient outside the grant': {
    path: DISPATCH,
    token: 'granted',
    body: { ...event, channel: 'email', recipient: 'eve@example.com' },
    answer: { status: 403, code: 'insufficient_scope' },
  },
  'a dry run by a session token': {
    path: `${DISPATCH}?dryRun=true`,
    token: 'granted',
    body: event,
    answer: { status: 403, code: 'insufficient_scope' },
  },
  'a dry run that is neither true nor false': {
    path: `${DISPATCH}?dryRun=1`,
    body: event,
    answer: { status: 422, code: 'validation_failed' },
  },
  'another media type': {
    path: DISPATCH,
    headers: { 'content-type': 'text/plain' },
    body: event,
    answer: { status: 415, code: 'unsupported_media_type' },
  },
  'an encoded body': {
    path: DISPATCH,
    headers: { 'content-encoding': 'gzip' },
    body: event,
    answer: { status: 415, code: 'unsupported_media_type' },
    parserAnswers: ANY_PARSER,
  },
  'malformed JSON': {
    path: DISPATCH,
    body: '{',
    answer: { status: 400, code: 'invalid_json' },
    parserAnswers: ANY_PARSER,
  },
  'a dispatch over 256 KiB': {
    path: DISPATCH,
    body: { ...event, eventData: { orderId: 'x'.repeat(262_144) } },
    answer: { status: 413, code: 'body_too_large' },
    parserAnswers: ANY_PARSER,
  },
  'a run over 64 KiB': {
    path: RUN,
    body: { ...run, more: 'x'.repeat(65_536) },
    answer: { status: 413, code: 'body_too_large' },
    parserAnswers: ANY_PARSER,
  },
  'a body nested over 32 levels': bodyRow(
    DISPATCH,
    `{"a":${'['.repeat(32)}${']'.repeat(32)}}`,
    'validation_failed',
    `/a${'/0'.repeat(31)}`,
  ),
  'a NUL character': bodyRow(
    DISPATCH,
    { ...event, eventData: { orderId: NUL } },
    'validation_failed',
    '/eventData/orderId',
  ),
  'a lone surrogate': bodyRow(RUN, '{"sessionId":"\\ud800","run":{"runId":"r1"}}', 'validation_failed', '/sessionId'),
  'a __proto__ key': {
    ...bodyRow(DISPATCH, '{"eventData":{"__proto__":1}}', 'validation_failed', '/eventData/__proto__'),
    parserAnswers: /^Koa/,
  },
  'an integer over 2^53': bodyRow(
    DISPATCH,
    '{"eventData":{"n":9007199254740993}}',
    'validation_failed',
    '/eventData/n',
  ),
  'a number that is not finite': bodyRow(DISPATCH, '{"eventData":{"n":1e999}}', 'validation_failed', '/eventData/n'),
  'all that is missing at once': bodyRow(DISPATCH, {}, 'validation_failed', '/eventType', '/recipient'),
  'fields of another type': bodyRow(
    DISPATCH,
    { ...event, eventData: [], channel: 1, sessionId: 'a b' },
    'validation_failed',
    '/eventData',
    '/channel',
    '/sessionId',
  ),
  'an unknown event': bodyRow(DISPATCH, { ...event, eventType: 'order.shiped' }, 'event_unknown', '/eventType'),
  'data that does not fit the event': bodyRow(
    DISPATCH,
    { ...event, eventData: { orderId: 1 } },
    'validation_failed',
    '/eventData/orderId',
  ),
  'an unknown channel': bodyRow(DISPATCH, { ...event, channel: 'mail' }, 'channel_unknown', '/channel'),
  "a channel that is not the event's": bodyRow(
    DISPATCH,
    { ...event, channel: 'push' },
    'channel_not_allowed',
    '/channel',
  ),
  'a recipient that nobody knows': bodyRow(
    DISPATCH,
    { ...event, recipient: 'user_1' },
    'recipient_unresolvable',
    '/recipient',
  ),
  'two recipients in one': bodyRow(
    DISPATCH,
    { ...event, recipient: 'a@example.com, b@example.com' },
    'recipient_unresolvable',
    '/recipient',
  ),
  'a directory that is down': {
    path: DISPATCH,
    body: { ...event, recipient: 'user_broken' },
    answer: { status: 503, code: 'directory_unavailable', headers: { 'retry-after': '1' } },
  },
  'data that a template needs': bodyRow(
    DISPATCH,
    { eventType: 'order.paid', recipient: 'user_42' },
    'template_data_missing',
    '/eventData/day',
  ),
  'a malformed idempotency key': {
    path: DISPATCH,
    headers: { 'idempotency-key': 'a b' },
    body: event,
    answer: { status: 400, code: 'idempotency_key_invalid' },
  },
  'a run without its id': bodyRow(RUN, { sessionId: 's1', run: {} }, 'validation_failed', '/run/runId'),
  'a status that is ambiguous': runRow({ status: 'interrupted' }, '/run/status'),
  'a status that only the sweep sets': runRow({ status: 'expired' }, '/run/status'),
  'seconds for milliseconds': runRow({ timings: { startedAt: 1_768_464_000 } }, '/run/timings/startedAt'),
  'a date that is none': runRow({ timings: { endedAt: '2026-02-30T00:00:00Z' } }, '/run/timings/endedAt'),
  'a negative and a fractional count': runRow(
    { counts: { inputTokens: -1, steps: 1.5 } },
    '/run/counts/inputTokens',
    '/run/counts/steps',
  ),
  'metadata that is an object': runRow({ metadata: { a: {} } }, '/run/metadata/a'),
  "another session's run": bodyRow(
    RUN,
    { sessionId: 's9', run: { runId: 'taken' } },
    'run_identity_conflict',
    '/sessionId',
  ),
  'a parent that was another': bodyRow(
    RUN,
    { sessionId: 's1', run: { runId: 'taken', parentRunId: 'p2' } },
    'run_identity_conflict',
    '/run/parentRunId',
  ),
}

const TAKEN = { sessionId: 's1', run: { runId: 'taken', parentRunId: 'p1' } }

/** The token of a row; `app` when it names none, no header when it names `undefined`. */
function authorization(row: Partial<Row>): { authorization: string | undefined } {
  const token = 'token' in row ? row.token : 'app'
  return { authorization: token === undefined ? undefined : `Bearer ${token}` }
}

describe.each([false, true])('after the parser of the host: %s', (parser) => {
  describe.each(hosts)('$name refuses', ({ name, start }) => {
    let host: RunningHost

    beforeAll(async () => {
      host = await start(sallyport(), { parser })
      await call(host.url + RUN, { headers: authorization({}), body: JSON.stringify(TAKEN) })
    })
    afterAll(() => host.close())

    it.each(Object.entries(rows))('%s', async (_, row) => {
      const reply = await call(host.url + row.path, {
        headers: { ...row.headers, ...authorization(row) },
        body: typeof row.body === 'string' ? row.body : JSON.stringify(row.body),
      })
      const { status, code, pointers, headers = {} } = row.answer
      if (parser && row.parserAnswers?.test(name)) {
        expect(reply.status).toBeGreaterThanOrEqual(400)
        expect(reply.status).toBeLessThan(600)
        return
      }
      expect([reply.status, reply.json?.code]).toEqual([status, code])
      expect(reply.headers['content-type']).toBe('application/problem+json')
      expect(reply.headers).toMatchObject(headers)
      if (pointers) expect(reply.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers)
      expect(reply.json.requestId).toMatch(/^req_/)
    })
  })
})

describe.each(hosts)('$name accepts', ({ start }) => {
  it('an event and a run, and remembers an idempotency key', async () => {
    const host = await start(sallyport())
    try {
      const key = { 'idempotency-key': 'k1' }
      const first = await call(host.url + DISPATCH, {
        headers: { ...key, authorization: 'Bearer app' },
        body: JSON.stringify(event),
      })
      const again = await call(host.url + DISPATCH, {
        headers: { ...key, authorization: 'Bearer app' },
        body: JSON.stringify(event),
      })
      const other = await call(host.url + DISPATCH, {
        headers: { ...key, authorization: 'Bearer app' },
        body: JSON.stringify({ ...event, eventData: { orderId: 'A2' } }),
      })
      expect([first.status, first.json.duplicate, again.status, again.json]).toEqual([
        202,
        false,
        202,
        { ...first.json, duplicate: true },
      ])
      expect(again.headers['idempotent-replayed']).toBe('true')
      expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
      const created = await call(host.url + RUN, {
        headers: { authorization: 'Bearer session' },
        body: JSON.stringify(run),
      })
      const repeated = await call(host.url + RUN, {
        headers: { authorization: 'Bearer session' },
        body: JSON.stringify(run),
      })
      expect([created.status, repeated.status, repeated.json.changed]).toEqual([201, 200, false])
    } finally {
      await host.close()
    }
  })
})

describe.each(hosts)('$name refuses, as the host has it,', ({ start }) => {
  const down = async (): Promise<never> => {
    throw new Error('the database is down')
  }

  it.each<[string, Partial<SallyportOptions<unknown>>, string, unknown, number, string]>([
    ['a session that must exist', { sessions: 'must-exist' }, RUN, run, 404, 'session_not_found'],
    [
      'a dispatch while the store is down',
      { store: { ...memoryStore(), accept: down } },
      DISPATCH,
      event,
      503,
      'store_unavailable',
    ],
    [
      'a run while the store is down',
      { store: { ...memoryStore(), mergeRun: down } },
      RUN,
      run,
      503,
      'store_unavailable',
    ],
  ])('%s', async (_, options, path, body, status, code) => {
    const host = await start(sallyport(options))
    try {
      const reply = await call(host.url + path, {
        headers: { authorization: 'Bearer app' },
        body: JSON.stringify(body),
      })
      expect([reply.status, reply.json.code, reply.headers['retry-after']]).toEqual([
        status,
        code,
        status === 503 ? '1' : undefined,
      ])
    } finally {
      await host.close()
    }
  })
})

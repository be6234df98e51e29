import { deepEqual, match } from 'node:assert/strict'
import { type Call, call, type Reply } from '../../../support/host-call.ts'
import { DISPATCH, post, RUN, type Target } from '../target.ts'
import type { Check, CheckGroup } from './check.ts'

const GOOD = JSON.stringify({ eventType: 'order.shipped', recipient: 'nobody', eventData: { orderId: 'A', total: 1 } })

/** Refused requests and their answers. */
const REFUSALS: readonly {
  readonly what: string
  ask(target: Target): Promise<Reply>
  readonly answer: readonly [status: number, code: string]
  /** A header that the answer must have. */
  readonly header?: readonly [name: string, value: RegExp]
}[] = [
  {
    what: 'no token',
    ask: (target) => bare(target, { headers: { authorization: undefined } }),
    answer: [401, 'unauthorized'],
    header: ['www-authenticate', /^Bearer realm="sallyport"$/],
  },
  {
    what: 'an unknown secret',
    ask: (target) => bare(target, { headers: { authorization: 'Bearer sp_live_nonsense' } }),
    answer: [401, 'invalid_token'],
    header: ['www-authenticate', /error="invalid_token"/],
  },
  { what: 'another path', ask: (target) => post(target, '/api/nothing', {}), answer: [404, 'not_found'] },
  {
    what: 'another method',
    ask: (target) => call(`${target.origin}${DISPATCH}`, { method: 'GET' }),
    answer: [405, 'method_not_allowed'],
    header: ['allow', /^POST$/],
  },
  {
    what: 'a body that is too large, by its length',
    ask: (target) => post(target, RUN, `"${'x'.repeat(65_536)}"`),
    answer: [413, 'body_too_large'],
  },
  {
    what: 'another media type',
    ask: (target) => post(target, DISPATCH, GOOD, { headers: { 'content-type': 'text/plain' } }),
    answer: [415, 'unsupported_media_type'],
    header: ['accept', /^application\/json$/],
  },
  {
    what: 'a content coding',
    ask: (target) => post(target, DISPATCH, GOOD, { headers: { 'content-encoding': 'gzip' } }),
    answer: [415, 'unsupported_media_type'],
    header: ['accept-encoding', /^identity$/],
  },
  { what: 'invalid JSON', ask: (target) => post(target, DISPATCH, '{"a":'), answer: [400, 'invalid_json'] },
  { what: 'no body', ask: (target) => post(target, DISPATCH, ''), answer: [400, 'invalid_json'] },
  {
    what: 'an unknown event',
    ask: (target) => post(target, DISPATCH, GOOD.replace('shipped', 'shiped')),
    answer: [422, 'event_unknown'],
  },
  {
    what: 'data that its schema refuses',
    ask: (target) => post(target, DISPATCH, GOOD.replace('1', '"1"')),
    answer: [422, 'validation_failed'],
  },
  {
    what: 'a NUL',
    ask: (target) => post(target, DISPATCH, GOOD.replace('nobody', '\\u0000')),
    answer: [422, 'validation_failed'],
  },
]

/** Refused callers and requests. */
export const refusing: CheckGroup = {
  name: 'refusals',
  checks: REFUSALS.map(
    ({ what, ask, answer, header }): Check => ({
      name: `${what} is refused with ${answer.join(' ')}`,
      async run(target) {
        const { status, headers, json } = await ask(target)
        deepEqual([status, json?.code], answer)
        deepEqual([headers['content-type'], json.status], ['application/problem+json', status])
        if (header) match(String(headers[header[0]]), header[1])
      },
    }),
  ),
}

function bare(target: Target, more: Call): Promise<Reply> {
  return call(`${target.origin}${DISPATCH}`, { body: GOOD, ...more })
}

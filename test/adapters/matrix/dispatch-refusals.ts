import { DISPATCH, RUN } from './paths.ts'
import { bodyRow, EVENT, type Row } from './refusal-row.ts'

const NUL = String.fromCharCode(0)

/** Requests refused for their JSON, or for the event in it. */
export const DISPATCH_REFUSALS: Readonly<Record<string, Row>> = {
  'a body nested over 32 levels': bodyRow(
    DISPATCH,
    `{"a":${'['.repeat(32)}${']'.repeat(32)}}`,
    'validation_failed',
    `/a${'/0'.repeat(31)}`,
  ),
  'a NUL character': bodyRow(
    DISPATCH,
    { ...EVENT, eventData: { orderId: NUL } },
    'validation_failed',
    '/eventData/orderId',
  ),
  'a lone surrogate': bodyRow(RUN, '{"sessionId":"\\ud800","run":{"runId":"r1"}}', 'validation_failed', '/sessionId'),
  'a __proto__ key': {
    ...bodyRow(DISPATCH, '{"eventData":{"__proto__":1}}', 'validation_failed', '/eventData/__proto__'),
    parserAnswers: /^(?:Koa|Fastify)/,
  },
  'an integer over 2^53': bodyRow(
    DISPATCH,
    '{"eventData":{"n":9007199254740993}}',
    'validation_failed',
    '/eventData/n',
  ),
  'a number that is not finite': bodyRow(DISPATCH, '{"eventData":{"n":1e999}}', 'validation_failed', '/eventData/n'),
  'all missing fields at once': bodyRow(DISPATCH, {}, 'validation_failed', '/eventType', '/recipient'),
  'fields of wrong types': bodyRow(
    DISPATCH,
    { ...EVENT, eventData: [], channel: 1, sessionId: 'a b' },
    'validation_failed',
    '/eventData',
    '/channel',
    '/sessionId',
  ),
  'an unknown event': bodyRow(DISPATCH, { ...EVENT, eventType: 'order.shiped' }, 'event_unknown', '/eventType'),
  'data that does not fit the event': bodyRow(
    DISPATCH,
    { ...EVENT, eventData: { orderId: 1 } },
    'validation_failed',
    '/eventData/orderId',
  ),
  'an unknown channel': bodyRow(DISPATCH, { ...EVENT, channel: 'mail' }, 'channel_unknown', '/channel'),
  'a channel that the event lacks': bodyRow(DISPATCH, { ...EVENT, channel: 'push' }, 'channel_not_allowed', '/channel'),
  'an unknown recipient': bodyRow(DISPATCH, { ...EVENT, recipient: 'user_1' }, 'recipient_unresolvable', '/recipient'),
  'two recipients in one': bodyRow(
    DISPATCH,
    { ...EVENT, recipient: 'a@example.com, b@example.com' },
    'recipient_unresolvable',
    '/recipient',
  ),
  'a directory that is down': {
    path: DISPATCH,
    body: { ...EVENT, recipient: 'user_broken' },
    answer: { status: 503, code: 'directory_unavailable', headers: { 'retry-after': '1' } },
  },
  'missing template data': bodyRow(
    DISPATCH,
    { eventType: 'order.paid', recipient: 'user_42' },
    'template_data_missing',
    '/eventData/day',
  ),
  'a malformed idempotency key': {
    path: DISPATCH,
    headers: { 'idempotency-key': 'a b' },
    body: EVENT,
    answer: { status: 400, code: 'idempotency_key_invalid' },
  },
}

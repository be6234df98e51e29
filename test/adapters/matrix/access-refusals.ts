import { DISPATCH, RUN } from './paths.ts'
import { EVENT, POST, type Row } from './refusal-row.ts'

const OWN_PARSER = /^(?:Express|Koa|node|Fastify)/

function challenge(error?: string): Record<string, string> {
  return { 'www-authenticate': `Bearer realm="sallyport"${error ? `, error="${error}"` : ''}` }
}

/** Requests refused for their caller, or for a body that was not interpreted. */
export const ACCESS_REFUSALS: Readonly<Record<string, Row>> = {
  'no token': {
    path: DISPATCH,
    token: undefined,
    body: EVENT,
    answer: { status: 401, code: 'unauthorized', headers: challenge() },
  },
  'an unknown token': {
    path: RUN,
    token: 'stranger',
    body: POST,
    answer: { status: 401, code: 'invalid_token', headers: challenge('invalid_token') },
  },
  'a malformed token': { path: RUN, token: 'two words', body: POST, answer: { status: 401, code: 'invalid_token' } },
  'a verifier that is down': {
    path: RUN,
    token: 'broken',
    body: POST,
    answer: { status: 503, code: 'auth_unavailable', headers: { 'retry-after': '1' } },
  },
  'a session token that may not dispatch': {
    path: DISPATCH,
    token: 'session',
    body: EVENT,
    answer: { status: 403, code: 'insufficient_scope', headers: challenge('insufficient_scope') },
  },
  "a session token for another session's run": {
    path: RUN,
    token: 'session',
    body: { ...POST, sessionId: 's2' },
    answer: { status: 403, code: 'insufficient_scope' },
  },
  'a recipient outside the grant': {
    path: DISPATCH,
    token: 'granted',
    body: { ...EVENT, channel: 'email', recipient: 'eve@example.com' },
    answer: { status: 403, code: 'insufficient_scope' },
  },
  'a dry run by a session token': {
    path: `${DISPATCH}?dryRun=true`,
    token: 'granted',
    body: EVENT,
    answer: { status: 403, code: 'insufficient_scope' },
  },
  'a dry run that is neither true nor false': {
    path: `${DISPATCH}?dryRun=1`,
    body: EVENT,
    answer: { status: 422, code: 'query_invalid' },
  },
  'another media type': {
    path: DISPATCH,
    headers: { 'content-type': 'text/plain' },
    body: EVENT,
    answer: { status: 415, code: 'unsupported_media_type' },
  },
  'an encoded body': {
    path: DISPATCH,
    headers: { 'content-encoding': 'gzip' },
    body: EVENT,
    answer: { status: 415, code: 'unsupported_media_type' },
    parserAnswers: OWN_PARSER,
  },
  'malformed JSON': {
    path: DISPATCH,
    body: '{',
    answer: { status: 400, code: 'invalid_json' },
    parserAnswers: OWN_PARSER,
  },
  'a dispatch over 256 KiB': {
    path: DISPATCH,
    body: { ...EVENT, eventData: { orderId: 'x'.repeat(262_144) } },
    answer: { status: 413, code: 'body_too_large' },
    parserAnswers: OWN_PARSER,
  },
  'a run over 64 KiB': {
    path: RUN,
    body: { ...POST, more: 'x'.repeat(65_536) },
    answer: { status: 413, code: 'body_too_large' },
    parserAnswers: OWN_PARSER,
  },
}

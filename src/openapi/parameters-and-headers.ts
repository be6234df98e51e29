import type { OpenApiHeader, OpenApiParameter, OpenApiReference } from './open-api-document.ts'

export type ParameterName = 'IdempotencyKey' | 'DryRun' | 'Prefer'

export type HeaderName =
  | 'Cache-Control'
  | 'ETag'
  | 'Idempotent-Replayed'
  | 'Preference-Applied'
  | 'WWW-Authenticate'
  | 'Allow'
  | 'Accept'
  | 'Accept-Encoding'
  | 'Retry-After'
  | 'RateLimit'
  | 'RateLimit-Policy'

export const PARAMETERS: Readonly<Record<ParameterName, OpenApiParameter>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: [
      'Requests with the same key make one dispatch, for 24 hours unless the host sets another time. The same body gets the stored',
      'answer again; another body is refused. Bare, or in double quotes.',
    ].join(' '),
    schema: { type: 'string', pattern: '^(?:"[\\x21\\x23-\\x7e]{1,255}"|[\\x21\\x23-\\x7e]{1,255})$' },
    example: 'order-A-1-shipped',
  },
  DryRun: {
    name: 'dryRun',
    in: 'query',
    description: 'Plan it, and neither store nor send anything. For application secrets alone.',
    schema: { type: 'boolean', default: false },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: '`return=minimal` leaves runs out of the answer (RFC 7240).',
    schema: { type: 'string' },
    example: 'return=minimal',
  },
}

export const HEADERS: Readonly<Record<HeaderName, OpenApiHeader>> = {
  'Cache-Control': {
    description: 'No answer is to be kept.',
    required: true,
    schema: { const: 'no-store' },
  },
  ETag: {
    description:
      'Entity tag of the answer. A request with it in `If-None-Match` gets 304 while the answer is the same.',
    required: true,
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description: 'There when this is what the first request with the `Idempotency-Key` was answered.',
    schema: { const: 'true' },
  },
  'Preference-Applied': {
    description: 'There when runs were left out.',
    schema: { const: 'return=minimal' },
  },
  'WWW-Authenticate': {
    description: 'The challenge (RFC 6750); names the error of a token that was sent.',
    required: true,
    schema: { type: 'string' },
  },
  Allow: { description: 'The methods that are allowed here.', required: true, schema: { enum: ['POST', 'GET, HEAD'] } },
  Accept: { description: 'There when the media type is another.', schema: { const: 'application/json' } },
  'Accept-Encoding': { description: 'There when the body is encoded.', schema: { const: 'identity' } },
  'Retry-After': {
    description: 'When to try again, in seconds.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimit: {
    description: 'What is left of each limit, where there are any (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string', examples: ['"token";r=12;t=48'] },
  },
  'RateLimit-Policy': {
    description: 'Each limit: how many requests in how many seconds, where there are any.',
    schema: { type: 'string', examples: ['"token";q=100;w=60'] },
  },
}

export function parametersNamed(names: readonly ParameterName[]): readonly OpenApiReference[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

export function headersNamed(names: readonly HeaderName[]): Readonly<Record<string, OpenApiReference>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

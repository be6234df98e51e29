import { anyText, fixed, id, integer, nullable, shortText, type Table, version } from './columns.ts'
import type { Records } from './records.ts'

/** Tables of session tokens. */
export const TOKEN_TABLES: { readonly [Name in 'revocations' | 'token_uses']: Table<Records[Name]> } = {
  /** One row per revocation of tokens. The row 0 has the last number as `revoked_at`, so that they commit in order. */
  revocations: {
    columns: {
      number: fixed(integer),
      tenant: id,
      covers: fixed(shortText),
      covered: id,
      revoked_at: integer,
      expires_at: fixed(integer),
      version,
    },
    primaryKey: ['number', 'tenant'],
    indexes: [{ name: 'expiring', columns: ['expires_at'] }],
  },
  token_uses: {
    columns: {
      use_id: id,
      tenant: id,
      session_id: id,
      jti: id,
      operation: fixed(shortText),
      outcome: fixed(shortText),
      code: fixed(nullable(shortText)),
      record_id: fixed(nullable(anyText)),
      times: fixed(integer),
      used_at: fixed(integer),
      version,
    },
    primaryKey: ['use_id'],
    indexes: [
      { name: 'by_time', columns: ['tenant', 'used_at', 'use_id'] },
      { name: 'by_token', columns: ['tenant', 'jti', 'used_at', 'use_id'] },
      { name: 'by_session', columns: ['tenant', 'session_id', 'used_at', 'use_id'] },
      { name: 'by_outcome', columns: ['tenant', 'outcome', 'used_at', 'use_id'] },
      { name: 'by_age', columns: ['used_at'] },
    ],
  },
}

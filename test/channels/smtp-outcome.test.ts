import { expect, test } from 'vitest'
import { smtpFaultOutcome } from '../../src/channels/smtp-outcome.ts'

const fault = (fields: object, message = 'x') => Object.assign(new Error(message), { command: 'CONN' }, fields)
const refused = fault({ code: 'ECONNREFUSED', syscall: 'connect' })
const reset = fault({ code: 'ECONNRESET', syscall: 'read' })

test.each([
  ['a name that does not resolve', fault({ code: 'EDNS' }), 'retry', 'connection_failed'],
  ['STARTTLS that failed', fault({ code: 'ETLS' }), 'retry', 'connection_failed'],
  ['a proxy that failed', fault({ code: 'EPROXY' }), 'retry', 'connection_failed'],
  ['no connection in time', fault({ code: 'ETIMEDOUT', timeoutType: 'CONNECT_TIMEOUT' }), 'retry', 'connection_failed'],
  ['no TLS in time', fault({ code: 'ETIMEDOUT', timeoutType: 'UPGRADE_TIMEOUT' }), 'retry', 'connection_failed'],
  ['no greeting in time', fault({ code: 'ETIMEDOUT' }, 'Greeting never received'), 'retry', 'connection_failed'],
  ['silence at any time', fault({ code: 'ETIMEDOUT', timeoutType: 'SOCKET_TIMEOUT' }), 'unknown', 'timeout'],
  ['silence, in older releases', fault({ code: 'ETIMEDOUT' }, 'Timeout'), 'unknown', 'timeout'],
  ['all addresses refusing', fault({ code: 'ESOCKET', errors: [refused, refused] }), 'retry', 'connection_failed'],
  [
    'one of several errors being a reset',
    fault({ code: 'ESOCKET', errors: [refused, reset] }),
    'unknown',
    'connection_lost',
  ],
  ['a reset', fault({ code: 'ESOCKET', originalCode: 'ECONNRESET' }), 'unknown', 'connection_lost'],
  [
    'an expired certificate',
    fault({ code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED' }),
    'retry',
    'connection_failed',
  ],
  ['no credentials', fault({ code: 'ENOAUTH' }), 'retry', 'smtp_auth'],
  ['a token that cannot be fetched', fault({ code: 'EAUTH', command: 'AUTH XOAUTH2' }), 'retry', 'smtp_auth'],
  ['a login refused for now', fault({ code: 'EAUTH', responseCode: 454 }), 'retry', 'smtp_auth'],
  ['a wrong configuration', fault({ code: 'ECONFIG' }), 'retry', 'transport_misconfigured'],
  ['an abort', fault({ code: 'EABORT' }), 'unknown', 'aborted'],
  ['commands out of order', fault({ responseCode: 503, command: 'DATA' }), 'retry', 'smtp_503'],
  ['a reply to no known command', fault({ responseCode: 550, command: undefined }), 'rejected', 'smtp_550'],
  ['an error of another kind', fault({ code: 'ESES' }), 'unknown', 'transport_error'],
  ['a thrown text', 'boom', 'unknown', 'transport_error'],
])('smtpFaultOutcome gives the right outcome for %s', (_what, error, outcome, code) => {
  const isUnknown = code === 'transport_error'
  expect(smtpFaultOutcome(error, false)).toEqual({ outcome, code, ...(isUnknown && { cause: error }) })
})

test.each([
  ['a reset', fault({ code: 'ESOCKET', originalCode: 'ECONNRESET' }), 'retry', 'connection_lost'],
  ['a connection that was closed', fault({ code: 'ECONNECTION' }), 'retry', 'connection_lost'],
  ['silence', fault({ code: 'ETIMEDOUT', timeoutType: 'SOCKET_TIMEOUT' }), 'retry', 'timeout'],
  ['an abort', fault({ code: 'EABORT' }), 'unknown', 'aborted'],
  ['an error of another kind', fault({ code: 'ESES' }), 'unknown', 'transport_error'],
])(
  'smtpFaultOutcome gives the right outcome for %s before the whole message was sent',
  (_what, error, outcome, code) => {
    const isUnknown = code === 'transport_error'
    expect(smtpFaultOutcome(error, true)).toEqual({ outcome, code, ...(isUnknown && { cause: error }) })
  },
)

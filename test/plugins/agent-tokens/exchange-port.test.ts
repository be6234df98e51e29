import { describe, it } from 'vitest'
import type { HostPort } from '../../compose/host-ports.ts'
import { testReturns, testSilence } from '../../compose/port-tests.ts'
import { testAuth } from '../../support/deps.ts'

const EXCHANGE: HostPort = {
  call: 'exchange() of the verifier',
  options: (answer) => ({ auth: { verify: testAuth.verify, exchange: answer as never } }),
  use: ({ post }) => post('/api/agents/session/token', { grants: {} }, 'session'),
  allows: [],
  wrong: '500 internal_error',
  thrown: '503 auth_unavailable',
  silent: { ms: 5_000, result: '503 auth_unavailable' },
}

describe(EXCHANGE.call, () => {
  testReturns(EXCHANGE)
  it('is given up after its limit, and the log names it', () => testSilence(EXCHANGE))
})

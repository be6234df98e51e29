import { describe, it } from 'vitest'
import type { FeedbackSource } from '../../../src/ports/feedback-source.ts'
import type { HostPort } from '../../compose/host-ports.ts'
import { testReturns, testSilence } from '../../compose/port-tests.ts'
import { everyPlugin } from '../../support/every-plugin.ts'

const use: HostPort['use'] = ({ post }) => post('/api/outbound/feedback/own', {})

function withSource(members: object): ReturnType<HostPort['options']> {
  const own = { tenant: 'default', channel: 'email', receive: async () => ({ outcome: 'refused' }), ...members }
  return { plugins: everyPlugin({ consent: { feedback: { own: own as FeedbackSource } } }) }
}

const RECEIVE: HostPort = {
  call: 'receive() of the feedback source',
  options: (receive) => withSource({ receive }),
  use,
  allows: [],
  wrong: '503 feedback_unavailable',
  silent: { ms: 10_000, result: '503 feedback_unavailable' },
}

const HEAD: HostPort = {
  call: 'head() of the feedback source',
  options: (head) => withSource({ head }),
  use,
  allows: [],
  refusesWays: ['by a promise', 'by a thenable'],
  wrong: '503 feedback_unavailable',
}

describe.each([RECEIVE, HEAD])('$call', testReturns)

it('A source that never answers is given up after its limit, and the log names it', () => testSilence(RECEIVE))

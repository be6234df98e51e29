import { expect, it } from 'vitest'
import { authenticate } from '../../../src/core/authenticate.ts'
import { systemClock } from '../../../src/runtime/system-clock.ts'
import { own } from './callers.ts'
import { ownFaults } from './own-faults.ts'

it.each(Object.entries(ownFaults))('authenticate handles %s without throwing', async (_, { token, answers }) => {
  const answer = await authenticate({ authorization: `Bearer ${token}` }, 'session_run', own.verifier, systemClock)
  expect('refused' in answer ? answer.refused : '201').toBe(answers.run.split(' ').at(-1))
})

import { expect, it } from 'vitest'
import { authenticate } from '../../../src/core/authenticate.ts'
import { own } from './callers.ts'
import { ownFaults } from './own-faults.ts'

it.each(Object.entries(ownFaults))('never throws where it meets %s', async (_, { token, answers }) => {
  const answer = await authenticate({ authorization: `Bearer ${token}` }, 'session_run', own.verifier)
  expect('refused' in answer ? answer.refused : '201').toBe(answers.run.split(' ').at(-1))
})

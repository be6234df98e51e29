import { expect, it } from 'vitest'
import { ALL_CALLS } from '../../support/actions.ts'
import { clientCalls, placeOf } from '../../support/client-calls.ts'

it('The client calls each action that is a call of a service, and no other path', async () => {
  const called = await clientCalls()
  // Lists of runs take the session as a parameter.
  const actions = ALL_CALLS.filter(({ name }) => name !== 'session_runs')
  expect([...called.keys()].sort()).toEqual(actions.map(({ method, path }) => placeOf(`${method} ${path}`)).sort())
})

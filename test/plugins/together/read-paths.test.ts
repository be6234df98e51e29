import { expect, it } from 'vitest'
import { createReadClient } from '../../../src/client/read.ts'
import { ALL_CALLS } from '../../support/actions.ts'

/** Calls each method of the client, and returns the requests. */
async function requested(): Promise<readonly Request[]> {
  const sent: Request[] = []
  const read = createReadClient({
    baseUrl: 'http://shop.test',
    token: 'secret',
    retries: 0,
    async fetch(url, init) {
      sent.push(new Request(url, init))
      return Response.json({})
    },
  })
  const call = async (method: unknown): Promise<void> => {
    if (typeof method === 'function') {
      // Ids in an object, or as the first argument.
      await method({ sessionId: '{sessionId}', runId: '{runId}', toString: () => '{id}' }).catch(() => {})
    } else await Promise.all(Object.values(Object(method)).map(call))
  }
  await call(read)
  return sent
}

it('The client calls each action that is a call of a service, and no other path', async () => {
  const paths = (await requested()).map(({ method, url }) => {
    return `${method} ${decodeURIComponent(new URL(url).pathname)}`.replace(/\{\w+\}/g, '{}')
  })
  // Lists of runs take the session as a parameter.
  const actions = ALL_CALLS.filter(({ name }) => name !== 'session_runs')
  expect(paths.sort()).toEqual(actions.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`).sort())
})

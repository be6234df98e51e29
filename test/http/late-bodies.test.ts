import { expect, test } from 'vitest'
import { refuse } from '../../src/core/answers/result.ts'
import { answer } from '../../src/http/answer.ts'
import { actionNamed } from '../support/handled.ts'
import { FakeEndpoints, TOKEN } from '../support/host-endpoints.ts'

/** Posts a body that arrives this long after the caller was verified. From then on the verifier refuses the token. */
async function postLate(ms: number) {
  const endpoints = new FakeEndpoints()
  const action = actionNamed(endpoints, 'dispatch')
  const bytes = async (): Promise<ArrayBuffer> => {
    endpoints.clock.advance(ms)
    endpoints.authenticate = async () => refuse('invalid_token', 'Bad token.')
    return new TextEncoder().encode('{}').buffer
  }
  const headers = { authorization: TOKEN, 'content-type': 'application/json' }
  const body = () => ({ kind: 'whole', bytes, isTaken: () => false }) as const
  const arrival = { method: 'POST', url: '/', headers, given: [], body, hasLeft: () => false }
  const { status } = await answer(endpoints, { action, search: '' }, arrival)
  return [status, endpoints.handled.length]
}

test.each([0, 999])('A caller whose body arrives after %d ms is not verified again', async (ms) => {
  expect(await postLate(ms)).toEqual([202, 1])
})

test.each([1_000, 9_000])(
  'A caller whose body arrives after %d ms is verified again, and may be refused',
  async (ms) => {
    expect(await postLate(ms)).toEqual([401, 0])
  },
)

test('A caller is verified again if the clock was set back while the body was awaited', async () => {
  expect(await postLate(-1)).toEqual([401, 0])
})

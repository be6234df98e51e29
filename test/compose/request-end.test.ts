import { expect, it } from 'vitest'
import { POSTS } from '../../src/actions/table.ts'
import { endByRefusal, endOfRequest } from '../../src/compose/request-end.ts'
import { success } from '../../src/core/answers/result.ts'

const principal = { id: 'token', tenant: 't' }
const { dispatch: action } = POSTS

it('The end of an accepted request names what it made: a token, a dispatch or a run', () => {
  const idOf = (body: unknown, answer: unknown, made?: string) => {
    const { refused, id } = endOfRequest(principal, action, { body }, success(201, answer), made)
    return [refused, id]
  }
  expect(idOf({ run: { runId: 'r' } }, { dispatchId: 'd' }, 'j')).toEqual([undefined, 'j'])
  expect(idOf({ run: { runId: 'r' } }, { dispatchId: 'd' })).toEqual([undefined, 'd'])
  expect(idOf({ run: { runId: 'r' } }, { created: true })).toEqual([undefined, 'r'])
  for (const body of [{ runs: [] }, null, 'text', { run: null }, { run: { runId: 5 } }])
    expect(idOf(body, null)).toEqual([undefined, undefined])
})

it('The end of a refused request has the code of its refusal', () => {
  expect(endByRefusal(principal, action, { refused: 'invalid_token', detail: '' })).toEqual({
    principal,
    action,
    refused: 'invalid_token',
  })
})

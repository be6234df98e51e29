import { expect, it } from 'vitest'
import { success } from '../../../src/core/answers/result.ts'
import { outcomeOf, refusedOutcome } from '../../../src/core/tokens/use-outcome.ts'

it('An accepted use names what it made: a token, a dispatch or a run', () => {
  const idOf = (body: unknown, answer: unknown, jti?: string) => {
    const outcome = outcomeOf({ body }, success(201, answer), jti)
    return [outcome.outcome, outcome.id]
  }
  expect(idOf({ run: { runId: 'r' } }, { dispatchId: 'd' }, 'j')).toEqual(['accepted', 'j'])
  expect(idOf({ run: { runId: 'r' } }, { dispatchId: 'd' })).toEqual(['accepted', 'd'])
  expect(idOf({ run: { runId: 'r' } }, { created: true })).toEqual(['accepted', 'r'])
  for (const body of [{ runs: [] }, null, 'text', { run: null }, { run: { runId: 5 } }])
    expect(idOf(body, null)).toEqual(['accepted', undefined])
})

it('A refused use has the code of its refusal', () => {
  expect(refusedOutcome({ refused: 'invalid_token', detail: '' })).toEqual({
    outcome: 'refused',
    code: 'invalid_token',
  })
})

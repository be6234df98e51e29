import { describe, expect, it } from 'vitest'
import { handleSessionRun } from '../../../src/core/runs/handle-session-run.ts'
import { answerOf, faultsOf, problemOf, recorder, runOf } from './recorder.ts'

describe('edges of a post', () => {
  it('A post may state each part of the agent alone', async () => {
    const { post } = recorder()
    await post({ runId: 'r1', agent: { id: 'a1' } })
    await post({ runId: 'r1', agent: { version: '2' } })
    expect(runOf(await post({ runId: 'r1', agent: { name: 'n' } })).agent).toEqual({
      id: 'a1',
      name: 'n',
      version: '2',
    })
  })

  it('One of several Prefer headers with return=minimal leaves out the run', async () => {
    const { deps } = recorder()
    const ask = async (prefer: readonly string[]): Promise<boolean> => {
      const headers = { authorization: 'Bearer app', prefer }
      return (
        'run' in answerOf(await handleSessionRun({ headers, body: { sessionId: 's1', run: { runId: 'r1' } } }, deps))
      )
    }
    expect(await ask(['respond-async', 'return=minimal'])).toBe(false)
    expect(await ask(['return=', 'minimal'])).toBe(true)
  })

  it.each<[string, object, string]>([
    ['a message that is no text', { error: { type: 't', message: 5 } }, '/run/error/message type'],
    ['a message with a NUL', { error: { type: 't', message: 'a\0' } }, '/run/error/message nul_character'],
    [
      'an amount of 2^53',
      { cost: { amount: 2 ** 53, currency: 'USD', source: 'client' } },
      '/run/cost/amount out_of_range',
    ],
    [
      'an endless amount',
      { cost: { amount: '1'.repeat(41), currency: 'USD', source: 'client' } },
      '/run/cost/amount format',
    ],
  ])('A post with %s is refused with that fault only', async (_, run, fault) => {
    expect(faultsOf(await recorder().post({ runId: 'r1', ...run }))).toEqual([fault])
  })

  it.each<[string, object]>([
    ['a metadata key that is a trap', { metadata: JSON.parse('{"__proto__":1}') }],
    ['a metadata key with a NUL', { metadata: { 'a\0': 1 } }],
    ['a metadata key with half a pair', { metadata: { 'a\ud800': true } }],
    ['a metadata value with a NUL', { metadata: { a: 'x\0' } }],
    ['a metadata value with half a pair', { metadata: { a: 'x\udc00' } }],
    ['a metadata value without end', { metadata: { a: Number.NaN } }],
    ['a text with half a pair', { model: 'x\ud800' }],
    ['a tag with a NUL', { tags: ['x\0'] }],
    ['a metadata key of no length', { metadata: { '': 1 } }],
  ])('A post with %s is refused although all else is valid', async (_, run) => {
    expect(problemOf(await recorder().post({ runId: 'r1', status: 'running', ...run }))).toMatchObject({
      code: 'validation_failed',
    })
  })

  it('Texts of the maximum length and -0 are accepted', async () => {
    const texts = { runId: 'r'.repeat(200), model: 'm'.repeat(200), environment: 'e'.repeat(64) }
    const error = { type: 't'.repeat(100), message: 'm'.repeat(2_000) }
    const metadata = { ['k'.repeat(64)]: 'v'.repeat(512), zero: -0 }
    const run = { ...texts, status: 'failed', error, metadata, tags: ['t'.repeat(64)], counts: { steps: -0 } }
    const answer = runOf(await recorder().post(run))
    expect(answer).toMatchObject({ ...texts, error, tags: run.tags })
    expect([answer.metadata?.zero, answer.counts?.steps].map((each) => Object.is(each, 0))).toEqual([true, true])
  })
})

import { describe, expect, it } from 'vitest'
import { answerOf, problemOf, recorder } from './recorder.ts'

const NOT_FINAL = 'was dropped: it belongs to a final status, and this post has none'
const CACHE = 'does not seem to include the tokens of the cache, which it should'
const REASONING = 'does not seem to include the tokens of reasoning, which it should'

describe('warnings', () => {
  it.each<[object, [string, string][]]>([
    [{ usage: { odd: 1 } }, [['/run/usage', 'has no count of a known provider, and was dropped']]],
    [
      { usage: { input_tokens: 5, output_tokens: 1 }, counts: { inputTokens: 6 } },
      [['/run/counts/inputTokens', 'differs from the usage object, and was taken instead']],
    ],
    [{ timings: { endedAt: Date.UTC(2026, 0) } }, [['/run/timings/endedAt', NOT_FINAL]]],
    [{ timings: { durationMs: 5, toolMs: 1 } }, [['/run/timings/durationMs', NOT_FINAL]]],
    [{ timings: { toolMs: 1 } }, []],
    [{ status: 'running', finishReason: 'stop' }, [['/run/finishReason', NOT_FINAL]]],
    [{ status: 'running', error: { type: 't' } }, [['/run/error', NOT_FINAL]]],
    [{ counts: { inputTokens: 1, cacheReadTokens: 2 } }, [['/run/counts/inputTokens', CACHE]]],
    [{ counts: { outputTokens: 1, reasoningTokens: 2 } }, [['/run/counts/outputTokens', REASONING]]],
  ])('A post with %j gets the warnings %j', async (run, words) => {
    const { warnings } = answerOf(await recorder().post({ runId: 'r1', ...run }))
    expect(warnings.map(({ pointer, detail }) => [pointer, detail])).toEqual(words)
  })

  it('A warning about one model points at that model', async () => {
    const counts = { inputTokens: 1, cacheReadTokens: 2, outputTokens: 1, reasoningTokens: 2 }
    const usageByModel = [{ provider: 'p', model: 'm', counts }]
    const { warnings } = answerOf(await recorder().post({ runId: 'r1', usageByModel }))
    expect(warnings.map(({ pointer, detail }) => [pointer, detail])).toEqual(
      expect.arrayContaining([
        ['/run/usageByModel/0/counts/inputTokens', CACHE],
        ['/run/usageByModel/0/counts/outputTokens', REASONING],
      ]),
    )
  })
})

describe('refusals', () => {
  it('A refusal explains what to do and names the ids that differ', async () => {
    const strict = await recorder({ sessions: 'must-exist' }).post({ runId: 'r1' })
    expect(problemOf(strict).detail).toBe('Open the session before its first run.')
    const { post } = recorder()
    await post({ runId: 'r1', parentRunId: 'a', attempt: 1 })
    expect(problemOf(await post({ runId: 'r1', parentRunId: 'b', attempt: 2 }))).toMatchObject({
      detail: 'A run keeps its parentRunId, attempt. Nothing was recorded.',
      errors: [
        { pointer: '/run/parentRunId', code: 'conflict', detail: 'differs from what the run was recorded with' },
        { pointer: '/run/attempt' },
      ],
    })
    expect(problemOf(await post({ runId: 'r1' }, { token: 's1', sessionId: 's2' })).detail).toBe(
      'The session token belongs to another session.',
    )
  })
})

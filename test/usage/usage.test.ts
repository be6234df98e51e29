import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { mergeRun } from '../../src/core/runs/merge/merge-run.ts'
import { type NormalisedRun, normaliseRun } from '../../src/core/runs/normalise-run.ts'
import { sessionRunSchema } from '../../src/core/runs/session-run-schema.ts'
import type { RunReport, RunState } from '../../src/model/run.ts'
import { readUsage } from '../../src/usage/read-usage.ts'
import { faultsOf, recorder } from '../core/runs/recorder.ts'
import { FIXTURES } from './usage-fixtures.ts'

/** The update of a post. */
function normalised(run: object): NormalisedRun {
  return normaliseRun(v.parse(sessionRunSchema, { sessionId: 's1', run: { runId: 'r1', ...run } }))
}

const countsOf = (run: object) => normalised(run).update.counts
const warningsOf = (run: object) => normalised(run).warnings.map(({ code, pointer }) => `${code} ${pointer}`)

/** The counts of a run after these posts. */
function recorded(...runs: readonly object[]): RunReport['counts'] {
  let state: RunState | undefined
  for (const run of runs) {
    const merge = mergeRun(state, normalised(run).update)
    if (merge.outcome !== 'merged') throw new Error(merge.outcome)
    state = merge.state
  }
  return state?.application?.counts ?? {}
}

describe('usage objects', () => {
  it.each(FIXTURES)('Usage of %s is read to inclusive counts', (_, usage, counts) => {
    expect(countsOf({ usage })).toEqual(counts)
  })

  it.each(FIXTURES)('Usage of %s causes no warning', (_, usage) => {
    expect(warningsOf({ usage })).toEqual([])
  })

  it.each(FIXTURES)('Usage of %s gives the same counts after JSON', (_, usage) => {
    expect(countsOf({ usage: JSON.parse(JSON.stringify(usage)) })).toEqual(countsOf({ usage }))
  })

  it('An update has the counts, and not the usage object', () => {
    expect(normalised({ usage: { prompt_tokens: 5 } }).update).toEqual({
      runId: 'r1',
      sessionId: 's1',
      counts: { inputTokens: 5 },
      usageDoubt: false,
    })
  })

  it('Explicit counts win over usage, count by count, unless they are null', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
    const counts = { inputTokens: 50, outputTokens: null, toolCalls: 2 }
    expect(countsOf({ usage, counts })).toEqual({ inputTokens: 50, outputTokens: 7, totalTokens: 12, toolCalls: 2 })
  })

  it('Usage counts in every post as absolute totals, and the greatest stay', () => {
    const start = {
      input_tokens: 21,
      cache_read_input_tokens: 1800,
      cache_creation_input_tokens: 188,
      output_tokens: 1,
    }
    const delta = { output_tokens: 15 }
    const end = { input_tokens: null, cache_read_input_tokens: 1800, output_tokens: 393 }
    const posts = [{ usage: start }, { usage: delta, status: 'waiting' }, { usage: end, status: 'completed' }]
    const counts = { inputTokens: 2009, cacheReadTokens: 1800, cacheWriteTokens: 188, outputTokens: 393 }
    expect(recorded(...posts)).toEqual(counts)
    expect(recorded(...posts, ...posts.reverse())).toEqual(counts)
  })
})

describe('usage of one member', () => {
  it.each([
    [{ input_token_details: { cache_read: 5 } }, { cacheReadTokens: 5 }],
    [{ output_token_details: { reasoning: 5 } }, { reasoningTokens: 5 }],
    [{ cacheCreationInputTokens: 5 }, { cacheWriteTokens: 5 }],
    [{ cacheReadInputTokenCount: 5 }, { cacheReadTokens: 5 }],
    [{ cacheWriteInputTokenCount: 5 }, { cacheWriteTokens: 5 }],
    [{ responseTokenCount: 5 }, { outputTokens: 5 }],
    [{ promptTokens: 5 }, { inputTokens: 5 }],
    [{ completionTokens: 5 }, { outputTokens: 5 }],
  ])('Usage of one member is recognised: %j', (usage, counts) => {
    expect(countsOf({ usage })).toEqual(counts)
  })
})

describe('usage of no known shape', () => {
  it.each([
    [{ score: 5 }],
    [{ score: 5, prompt_tokens: null }],
    [{ text: 'a' }],
    [{ results: [{ score: 0.5 }] }],
    [JSON.parse('{ "constructor": 1, "toString": 2, "hasOwnProperty": 3 }')],
  ])('Unknown usage %j is dropped with a warning, not refused', (usage) => {
    const { update, warnings } = normalised({ usage, counts: { steps: 1 } })
    expect(warnings).toEqual([{ code: 'usage_unknown', pointer: '/run/usage', detail: expect.any(String) }])
    expect(update.counts).toEqual({ steps: 1 })
  })

  it('Unknown members do not hide a known shape', () => {
    const usage = JSON.parse('{ "constructor": { "prototype": 1 }, "prompt_tokens": 5, "toString": "x", "x": [{}] }')
    expect(countsOf({ usage })).toEqual({ inputTokens: 5 })
    expect(warningsOf({ usage })).toEqual([])
  })

  it.each([[{}], [{ tokens: null }], [{ inputTokenDetails: {}, outputTokenDetails: {} }], [{ prompt_tokens: null }]])(
    'Empty usage %j is accepted',
    (usage) => {
      expect(warningsOf({ usage })).toEqual([])
      expect(countsOf({ usage })).toEqual({})
      expect(countsOf({ usage, counts: { steps: 1 } })).toEqual({ steps: 1 })
    },
  )

  it.each([['junk'], [7], [[5]], [null]])('Details that are %j are ignored', (details) => {
    expect(countsOf({ usage: { prompt_tokens: 5, prompt_tokens_details: details } })).toEqual({ inputTokens: 5 })
  })
})

describe('usage with an invalid count', () => {
  const MAX = Number.MAX_SAFE_INTEGER

  it.each<[usage: object, fault: string]>([
    [{ prompt_tokens: -1 }, '/run/usage/prompt_tokens out_of_range'],
    [{ prompt_tokens: 2 ** 53 }, '/run/usage/prompt_tokens out_of_range'],
    [{ prompt_tokens: '5' }, '/run/usage/prompt_tokens type'],
    [{ prompt_tokens: true }, '/run/usage/prompt_tokens type'],
    [{ completion_tokens: 0.5 }, '/run/usage/completion_tokens type'],
    [{ input_tokens_details: { cached_tokens: [] } }, '/run/usage/input_tokens_details/cached_tokens type'],
    [{ inputTokens: [5] }, '/run/usage/inputTokens type'],
    [{ inputTokens: { total: -5 } }, '/run/usage/inputTokens/total out_of_range'],
    [{ outputTokens: { reasoning: 1.5 } }, '/run/usage/outputTokens/reasoning type'],
    [{ outputTokenDetails: { reasoningTokens: -1 } }, '/run/usage/outputTokenDetails/reasoningTokens out_of_range'],
    [{ input_tokens: MAX, cache_read_input_tokens: 1 }, '/run/usage out_of_range'],
    [{ promptTokenCount: MAX, toolUsePromptTokenCount: MAX }, '/run/usage out_of_range'],
    [{ inputTokens: MAX, cacheReadInputTokens: MAX, cacheWriteInputTokens: MAX }, '/run/usage out_of_range'],
    [{ candidatesTokenCount: MAX, thoughtsTokenCount: 1 }, '/run/usage out_of_range'],
  ])('The invalid count in %j is refused with its pointer', async (usage, fault) => {
    expect(faultsOf(await recorder().post({ runId: 'r1', usage }))).toEqual([fault])
  })

  it('An invalid count is refused in every shape', async () => {
    const usage = { prompt_tokens: -1, completion_tokens: 'x', completion_tokens_details: { reasoning_tokens: 0.5 } }
    expect(faultsOf(await recorder().post({ runId: 'r1', usage })).sort()).toEqual([
      '/run/usage/completion_tokens type',
      '/run/usage/completion_tokens_details/reasoning_tokens type',
      '/run/usage/prompt_tokens out_of_range',
    ])
  })

  it('The greatest count and unknown members are accepted', () => {
    expect(countsOf({ usage: { input_tokens: MAX - 1, cache_read_input_tokens: 1 } })).toMatchObject({
      inputTokens: MAX,
    })
    expect(countsOf({ usage: { prompt_tokens: 5, cost: 0.25, input_tokens: 'x' } })).toEqual({ inputTokens: 5 })
  })
})

describe('usage that looks exclusive', () => {
  it('Usage that looks exclusive is kept with a warning', () => {
    const usage = { inputTokens: 10, cachedInputTokens: 300, outputTokens: 1 }
    expect(normalised({ usage }).warnings).toEqual([
      { code: 'usage_looks_exclusive', pointer: '/run/usage', detail: expect.any(String) },
    ])
    expect(countsOf({ usage })).toEqual({ inputTokens: 10, cacheReadTokens: 300, outputTokens: 1 })
  })

  it('An input that leaves out the cache by the total includes it', () => {
    const usage = { inputTokens: 2000, cachedInputTokens: 1800, outputTokens: 5, totalTokens: 3805 }
    const counts = { inputTokens: 3800, cacheReadTokens: 1800, outputTokens: 5, totalTokens: 3805 }
    expect(normalised({ usage })).toMatchObject({ update: { counts }, warnings: [] })
  })

  it.each<[what: string, usage: object]>([
    [
      'a proxy of Anthropic that speaks as OpenAI chat',
      { prompt_tokens: 21, completion_tokens: 5, cache_read_input_tokens: 1800, cache_creation_input_tokens: 188 },
    ],
    [
      'a proxy of Anthropic that speaks as OpenAI responses',
      { input_tokens: 21, output_tokens: 5, input_tokens_details: { cached_tokens: 1800 } },
    ],
    [
      'reasoning beside the output',
      { prompt_tokens: 1, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 6 } },
    ],
  ])('Usage that looks exclusive gets a warning: %s', (_, usage) => {
    expect(warningsOf({ usage })).toEqual(['usage_looks_exclusive /run/usage'])
  })

  it('Explicit counts and counts per model that look exclusive get a warning from one token on', () => {
    const counts = { inputTokens: 10, cacheReadTokens: 6, cacheWriteTokens: 5, outputTokens: 4, reasoningTokens: 5 }
    const fits = { ...counts, inputTokens: 11, outputTokens: 5 }
    const usageByModel = [
      { provider: 'p', model: 'a', counts: fits },
      { provider: 'p', model: 'b', counts },
    ]
    expect(warningsOf({ counts, usageByModel })).toEqual([
      'usage_looks_exclusive /run/counts/inputTokens',
      'usage_looks_exclusive /run/counts/outputTokens',
      'usage_looks_exclusive /run/usageByModel/1/counts/inputTokens',
      'usage_looks_exclusive /run/usageByModel/1/counts/outputTokens',
    ])
    expect(warningsOf({ counts: fits })).toEqual([])
  })

  it('A total that fits only with the part added gets a warning', () => {
    const counts = { inputTokens: 10, cacheReadTokens: 4, outputTokens: 7, reasoningTokens: 5 }
    expect(warningsOf({ counts: { ...counts, totalTokens: 21 } })).toEqual([
      'usage_looks_exclusive /run/counts/inputTokens',
    ])
    expect(warningsOf({ counts: { ...counts, totalTokens: 22 } })).toEqual([
      'usage_looks_exclusive /run/counts/outputTokens',
    ])
    expect(warningsOf({ counts: { ...counts, totalTokens: 17 } })).toEqual([])
  })

  it('Explicit counts that contradict the usage get a warning at the smaller count', () => {
    const usage = { input_tokens: 21, cache_read_input_tokens: 1800, output_tokens: 5 }
    expect(warningsOf({ usage, counts: { inputTokens: 21 } })).toEqual([
      'usage_overruled /run/counts/inputTokens',
      'usage_looks_exclusive /run/counts/inputTokens',
    ])
    expect(warningsOf({ usage, counts: { cacheReadTokens: 1822 } })).toEqual([
      'usage_overruled /run/counts/cacheReadTokens',
      'usage_looks_exclusive /run/usage',
    ])
    expect(warningsOf({ usage, counts: { inputTokens: 1821 } })).toEqual([])
  })

  it('Details of every call in the OpenAI Agents SDK are added', () => {
    const usage = {
      requests: 2,
      inputTokens: 300,
      outputTokens: 40,
      totalTokens: 340,
      inputTokensDetails: [{ cached_tokens: 100 }, { cached_tokens: 50 }, {}],
      outputTokensDetails: [{ reasoning_tokens: 7 }, { reasoning_tokens: 8 }],
    }
    const reported = { inputTokens: 300, cacheReadTokens: 150, outputTokens: 40, reasoningTokens: 15, totalTokens: 340 }
    expect(readUsage(usage, [])?.counts).toEqual(reported)
  })

  it('Token counts of every model add up to those of the run, unless it states its own', () => {
    const usageByModel = [
      { provider: 'p', model: 'a', counts: { inputTokens: 3, outputTokens: 1 } },
      { provider: 'p', model: 'b', counts: { inputTokens: 4 } },
    ]
    const body = (run: object) =>
      v.parse(sessionRunSchema, { sessionId: 's', run: { runId: 'r', usageByModel, ...run } })
    expect(normaliseRun(body({})).update.counts).toEqual({ inputTokens: 7 })
    expect(normaliseRun(body({ counts: { inputTokens: 9, steps: 1 } })).update.counts).toEqual({
      inputTokens: 9,
      steps: 1,
    })
    expect(normaliseRun(body({ usageByModel: [] })).update.counts).toBeUndefined()
  })

  it('A sum over models stops at 2^53 - 1, so that it is missing in no budget', () => {
    const counts = { inputTokens: Number.MAX_SAFE_INTEGER }
    const usageByModel = ['a', 'b'].map((model) => ({ provider: 'p', model, counts }))
    const body = v.parse(sessionRunSchema, { sessionId: 's', run: { runId: 'r', usageByModel } })
    expect(normaliseRun(body).update.counts).toEqual(counts)
  })

  it('Unknown input and usage without a cache get no warning', () => {
    expect(warningsOf({ counts: { cacheReadTokens: 5, reasoningTokens: 5 } })).toEqual([])
    expect(warningsOf({ counts: { cacheReadTokens: 5, outputTokens: 1, totalTokens: 6 } })).toEqual([])
    expect(warningsOf({ counts: { inputTokens: 10, cacheReadTokens: 5, totalTokens: 15 } })).toEqual([])
    const zeros = { inputTokens: 0, cacheReadTokens: 0, outputTokens: 0, reasoningTokens: 0, totalTokens: 0 }
    expect(warningsOf({ counts: zeros })).toEqual([])
  })
})

describe('counts', () => {
  it('Null counts are unknown, and 0 is known', () => {
    expect(countsOf({ counts: { inputTokens: null, outputTokens: 0, mine: null, other: 0 } })).toEqual({
      outputTokens: 0,
      other: 0,
    })
    expect(Object.is(countsOf({ counts: { steps: -0 } })?.steps, 0)).toBe(true)
    expect(countsOf({})).toBeUndefined()
  })

  it('Custom counters may have names that objects inherit', () => {
    const counts = { constructor: 3, toString: 0, valueOf: 1, hasOwnProperty: 2, isPrototypeOf: 4 }
    expect(Object.entries(recorded({ counts }))).toEqual(Object.entries(counts))
    const merged = recorded({ counts: { steps: 1 } }, { counts }, { counts: { valueOf: 5, constructor: 1 } })
    expect(Object.entries(merged).sort()).toEqual(Object.entries({ ...counts, steps: 1, valueOf: 5 }).sort())
    expect(Object.entries(countsOf({ counts, usage: { prompt_tokens: 1 } }) ?? {})).toHaveLength(6)
  })

  it('Null counts do not count as custom counters', () => {
    const nulls = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`c${index}`, null]))
    expect(countsOf({ counts: { ...nulls, c1: 1 } })).toEqual({ c1: 1 })
  })
})

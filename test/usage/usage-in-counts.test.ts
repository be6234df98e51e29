import { describe, expect, it } from 'vitest'
import type { Warning } from '../../src/model/dispatch.ts'
import { priceBook } from '../../src/pricing/index.ts'
import { answerOf, faultsOf, recorder } from '../core/runs/recorder.ts'

const prices = priceBook({ version: 'v1', prices: [{ model: 'm', input: 1, output: 2, cacheRead: '0.1' }] })

async function answered(run: object) {
  const { run: shown, warnings } = answerOf(await recorder({ prices }).post({ runId: 'r', model: 'm', ...run }))
  return { ...shown, warnings: warnings.map(({ code, pointer }: Warning) => `${code} ${pointer}`) }
}

describe("a provider's names among counts", () => {
  it('They are read as if they stood in usage, with a warning for each', async () => {
    const { counts, cost, warnings } = await answered({
      counts: { input_tokens: 18_000_000, output_tokens: 5, steps: 3 },
    })
    expect(counts).toEqual({ inputTokens: 18_000_000, outputTokens: 5, steps: 3 })
    expect(cost?.amount).toBe('18.00001')
    expect(warnings).toEqual(['usage_in_counts /run/counts/input_tokens', 'usage_in_counts /run/counts/output_tokens'])
  })

  it('Details are read too', async () => {
    const counts = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 80 } }
    expect((await answered({ counts })).counts).toEqual({ inputTokens: 100, cacheReadTokens: 80, outputTokens: 5 })
  })

  it('A count under our own name holds over them', async () => {
    const counts = { prompt_tokens: 100, completion_tokens: 5, inputTokens: 70 }
    expect((await answered({ counts })).counts).toEqual({ inputTokens: 70, outputTokens: 5 })
  })

  it('Counters of a host keep their names', async () => {
    const counts = { inputTokens: 1, outputTokens: 2, results: 3, input: 4, tokensSaved: 5, valueOf: 6, cacheHits: 7 }
    expect(await answered({ counts })).toMatchObject({ counts, warnings: [] })
  })

  it('What is not understood of them puts the run in doubt', async () => {
    const { cost, usageDoubt, counts, warnings } = await answered({
      status: 'completed',
      counts: { inputTokens: 100, outputTokens: 5, billed_units: { new_tokens: 80 } },
    })
    expect([cost, usageDoubt, counts]).toEqual([undefined, true, { inputTokens: 100, outputTokens: 5 }])
    expect(warnings).toEqual([
      'usage_in_counts /run/counts/billed_units',
      'usage_unread /run/counts/billed_units/new_tokens',
      'unpriced_part /run/usage',
    ])
  })

  it('A zero that is not understood is dropped without a doubt', async () => {
    const { counts, usageDoubt, warnings } = await answered({
      counts: { inputTokens: 1, billed_units: { new_tokens: 0 } },
    })
    expect([counts, usageDoubt]).toEqual([{ inputTokens: 1 }, undefined])
    expect(warnings).toEqual(['usage_in_counts /run/counts/billed_units', 'usage_unknown /run/counts'])
  })

  it('Billed searches are read', async () => {
    expect((await answered({ counts: { num_search_queries: 3, steps: 1 } })).counts).toEqual({
      billedSearches: 3,
      steps: 1,
    })
  })

  it('An implausible count is reported where it was posted', async () => {
    const { warnings } = await answered({ counts: { prompt_tokens: 10, cached_tokens: 80, completion_tokens: 1 } })
    expect(warnings).toContain('usage_looks_exclusive /run/counts')
  })

  it('Counts of a model are read in the same way', async () => {
    const usageByModel = [{ provider: 'p', model: 'm', counts: { prompt_tokens: 100, completion_tokens: 5 } }]
    const { counts, usageByModel: shown, warnings } = await answered({ usageByModel })
    expect(counts).toEqual({ inputTokens: 100, outputTokens: 5 })
    expect(shown).toMatchObject([{ counts: { inputTokens: 100, outputTokens: 5 }, cost: { amount: '0.00011' } }])
    expect(warnings).toEqual([
      'usage_in_counts /run/usageByModel/0/counts/prompt_tokens',
      'usage_in_counts /run/usageByModel/0/counts/completion_tokens',
    ])
  })

  it.each([
    [-1, 'out_of_range'],
    [1.5, 'type'],
    ['5', 'type'],
    [2 ** 53, 'out_of_range'],
  ])('A count of %j is refused with its pointer', async (bad, code) => {
    const faults = faultsOf(await recorder().post({ runId: 'r', counts: { input_tokens: bad } }))
    expect(faults).toContain(`/run/counts/input_tokens ${code}`)
  })

  it('Details that nest too deeply are refused', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}"x"${'}'.repeat(20_000)}`)
    const faults = faultsOf(await recorder().post({ runId: 'r', counts: { prompt_tokens_details: deep } }))
    expect(faults.join()).toContain('too_deep')
  })

  it("Groq's last event of a stream is read", async () => {
    const usage = { x_groq: { usage: { prompt_tokens: 23, completion_tokens: 19, new_tokens: 4 } } }
    const { counts, warnings } = await answered({ usage })
    expect(counts).toEqual({ inputTokens: 23, outputTokens: 19 })
    expect(warnings).toEqual(['usage_unread /run/usage/x_groq/usage/new_tokens'])
  })
})

import { describe, expect, it } from 'vitest'
import { createConsole } from '../../src/console/index.ts'
import { otelMetrics, otelRunExporter } from '../../src/otel/index.ts'
import { cells, EVENT, host, IN_TABLES, type Proof, page, publicNames, rows } from './comparing.ts'

/** Statements in its sentences. */
const IN_SENTENCES: Readonly<Record<string, Proof>> = {
  'It has a [console](console.md)': () => expect(createConsole).toBeTypeOf('function'),
  '[reads over HTTP](read-api.md)': async () => expect((await host().get('outbound/dispatches')).status).toBe(200),
  'An in-app inbox, push or voice channels.': () => expect(publicNames()).not.toMatch(/inbox|\b(?:push|voice)\b/i),
  'One call for many recipients, topics, audiences or broadcasts': () =>
    expect(publicNames()).not.toMatch(/topic|audience|broadcast/i),
  'Recurring messages, and steps that wait for a reader.': () =>
    expect(publicNames()).not.toMatch(/recurring|cron|\bstep\b/i),
  'A visual editor, translations that others edit, a hosted version.': () =>
    expect(publicNames()).not.toMatch(/editor|translat/i),
  'Traces of model calls, prompts, outputs, evaluations': () => expect(publicNames()).not.toMatch(/evaluation|prompt/i),
  'It [sends](opentelemetry.md) spans.': () => expect(otelRunExporter).toBeTypeOf('function'),
  'Alerts on rates: export [metrics](metrics.md) to your alerting system.': () =>
    expect(otelMetrics).toBeTypeOf('function'),
  "Sallyport's `cancel` names the deliveries that it stopped.": async () => {
    const { sallyport } = host()
    const { body } = await sallyport.dispatch(EVENT)
    const { dispatchId } = body as { readonly dispatchId: string }
    expect(await sallyport.dispatches.cancel(dispatchId)).toMatchObject({ cancelled: [{ channel: 'log' }] })
  },
  'Sallyport answers 422.': async () =>
    expect((await host().post('outbound/dispatch', { ...EVENT, eventType: 'unmapped' })).status).toBe(422),
}

describe('the comparison', () => {
  it('Each proof is of a statement of its tables', () => {
    expect(cells()).toEqual(expect.arrayContaining(Object.keys(IN_TABLES)))
  })

  it('Each cell about another product has a source, or says that none was found', () => {
    const others = rows().flatMap(([feature, , ...cellsOfOthers]) => cellsOfOthers.map((cell) => `${feature}: ${cell}`))
    expect(others.length).toBeGreaterThan(100)
    expect(others.filter((cell) => !/: (?:—|\[.+\]\[[a-z]\d+\])$/.test(cell))).toEqual([])
  })

  it('Each source is defined once, and used', () => {
    const defined = [...page.matchAll(/^\[([a-z]\d+)\]: https:\/\/\S+$/gm)].map(([, key]) => key)
    const used = [...page.matchAll(/\]\[([a-z]\d+)\]/g)].map(([, key]) => key)
    expect(defined).toEqual([...new Set(defined)])
    expect([...new Set(used)].sort()).toEqual([...defined].sort())
  })

  it.each(Object.entries(IN_TABLES))('The table is right: %s', async (_, proof) => {
    await proof()
  })

  it.each(Object.entries(IN_SENTENCES))('The page is right: %s', async (sentence, proof) => {
    expect(page).toContain(sentence)
    await proof()
  })
})

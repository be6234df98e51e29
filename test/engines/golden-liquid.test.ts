import { Liquid } from 'liquidjs'
import { describe, expect, it } from 'vitest'
import { liquid } from '../../src/engines/liquid.ts'
import { GOLDEN, type GoldenCase, goldenCases, placed } from './golden-cases.ts'

const engine = liquid()
const library = new Liquid()

interface Outcome {
  readonly text?: string
  /** It is refused at start, or is an error or missing when it is rendered. */
  readonly failure?: string
}

async function ourOutcome(one: GoldenCase): Promise<Outcome> {
  const template = engine.compile(placed(one), 'none')
  if (typeof template !== 'function') return { failure: template.fault }
  const rendering = await template({ data: one.data ?? {}, recipient: { id: 'u' } })
  if (rendering.outcome === 'missing') return { failure: 'missing' }
  return rendering.outcome === 'error' ? { failure: rendering.detail } : { text: rendering.text }
}

async function libraryText({ template, data = {} }: GoldenCase): Promise<string | undefined> {
  return library.parseAndRender(template, structuredClone(data)).catch(() => undefined)
}

function isAsWanted({ invalid, result = '', results = [result] }: GoldenCase, { text, failure }: Outcome): boolean {
  return invalid ? failure !== undefined : text !== undefined && results.includes(text)
}

/** Why some templates are not rendered, by their first fault, and their number. */
const FAILURES: readonly (readonly [failure: RegExp, why: string, count: number])[] = [
  [/^The (?:tag|filter) "\w+" is not available/, 'the tag or filter is not on the allowlist', 199],
  [/is none of data, recipient, events and links/, 'a name that no event has is refused at start', 126],
  [/^A range stands after "in" of "for"/, 'other ranges do work that is not counted', 24],
  [/^missing$/, 'an absent variable is missing, so that no mail has a gap', 14],
  [/^an object stands where text is needed/, 'an object has no text', 5],
  [/^The (?:options of the )?filter "\w+" (?:takes|follow)/, 'the library would ignore the arguments', 6],
  [/^a property is named by a short text/, 'a property that is nil is a mistake', 1],
  [/not closed|^Unexpected|^Duplicated|belongs to nothing/, 'the library refuses it', 6],
]

/** Texts that differ from Shopify's and from the library's. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'filters, concat, nested left value gets flattened': 'the text of a list is its joined items',
}

describe.skipIf(goldenCases.length === 0 && `${GOLDEN} is absent`)('golden-liquid', async () => {
  const cases = await Promise.all(goldenCases.map(async (one) => ({ one, outcome: await ourOutcome(one) })))
  const deviating = cases.filter(({ one, outcome }) => !isAsWanted(one, outcome))

  it('Most templates render as in Shopify', () => {
    expect([cases.length, cases.length - deviating.length]).toEqual([1054, 624])
  })

  it('Every template that is not rendered has a listed reason', () => {
    const failures = deviating.flatMap(({ outcome }) => outcome.failure ?? [])
    for (const [failure, why, count] of FAILURES)
      expect([why, failures.filter((one) => failure.test(one)).length]).toEqual([why, count])
    expect(failures.filter((one) => !FAILURES.some(([failure]) => failure.test(one)))).toEqual([])
  })

  it('Every other text is that of the library', async () => {
    const different: string[] = []
    for (const { one, outcome } of deviating) {
      if (outcome.text === undefined) continue
      if (outcome.text !== (await libraryText(one))) different.push(one.name)
    }
    expect(different).toEqual(Object.keys(DIFFERENT))
  })
})

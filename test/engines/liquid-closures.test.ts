import { toValueSync } from 'liquidjs'
import { describe, expect, it } from 'vitest'
import { parse } from '../../src/engines/liquid-check.ts'
import { compileToClosures } from '../../src/engines/liquid-closures.ts'
import { lockedDown } from '../../src/engines/liquid-engine.ts'
import { ClosureContext, OneSlice } from '../../src/engines/liquid-rendering.ts'
import { fc, runs, TIMEOUT_MS } from '../support/properties.ts'
import { GOLDEN, goldenCases, placed } from './golden-cases.ts'
import { FACTS, SOURCES } from './liquid-sources.ts'

const TEMPLATES = runs(2_000)

interface Outcome {
  readonly text?: string
  /** Units, if a text was rendered. */
  readonly work?: number
}

type Renderer = (context: ClosureContext) => string

const engines = (['none', 'html'] as const).map((escaping) => lockedDown(escaping, 'en-US', 'UTC'))

function outcomeOf(render: Renderer, engine: (typeof engines)[number], facts: object): Outcome {
  const limits = new OneSlice(Number.POSITIVE_INFINITY)
  try {
    return { text: render(new ClosureContext(facts, engine, limits)), work: limits.work }
  } catch {
    return {}
  }
}

/** Compares closures with the library in both escapings, and returns how many there were. */
function compare(source: string, facts: object): number {
  const compiled = engines.flatMap((engine) => {
    const templates = parse(engine, source)
    const closures = 'fault' in templates ? undefined : compileToClosures(templates, engine)
    return 'fault' in templates || !closures ? [] : [{ engine, templates: [...templates], closures }]
  })
  for (const { engine, templates, closures } of compiled) {
    const library: Renderer = (context) =>
      String(toValueSync(engine.renderer.renderTemplates(templates, context, context.emitter)))
    const ours: Renderer = (context) => {
      closures(context)
      return context.emitter.buffer
    }
    expect(outcomeOf(ours, engine, facts)).toEqual(outcomeOf(library, engine, facts))
  }
  return compiled.length
}

describe('a template that is compiled to closures', () => {
  it(`${TEMPLATES} generated templates render byte for byte what the library renders, for the same work`, {
    timeout: TIMEOUT_MS,
  }, () => {
    // Other templates are not counted.
    const isCompared = (source: string): void => fc.pre(compare(source, FACTS) > 0)
    fc.assert(fc.property(SOURCES, isCompared), { numRuns: TEMPLATES })
  })

  it.skipIf(goldenCases.length === 0 && `${GOLDEN} is absent`)('The templates of golden-liquid do so', () => {
    const compared = goldenCases.map((one) => compare(placed(one), { data: one.data ?? {} }))
    expect(compared.filter((count) => count > 0)).toHaveLength(577)
  })
})

import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { isSallyportError } from '../../../../src/errors.ts'
import type { EventFacts } from '../../../../src/ports/event-catalog.ts'

const FACTS: EventFacts = { data: {}, recipient: { id: 'ada' }, events: [] }
const WRONG: readonly [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a string', 'canary'],
  ['a number', 5],
  ['an array of 1', ['canary']],
  ['an object with wrong (a string)', { wrong: 'canary' }],
]

function catalogOf(compiled: unknown) {
  return defineEvents(
    { e: { channels: { a: { when: { rule: true } as never, text: 'text' } } } },
    { templates: { compile: () => compiled as never }, conditions: { compile: () => compiled as never } },
  )
}

function problemsOf(define: () => unknown): readonly string[] {
  try {
    define()
    return []
  } catch (thrown) {
    return isSallyportError(thrown) ? thrown.problems.map(({ detail }) => detail) : ['threw another error']
  }
}

describe('an engine of the host', () => {
  it.each(WRONG)('that compiles to %s stops the start, and says what to return', (came, compiled) => {
    expect(problemsOf(() => catalogOf(compiled))).toEqual([
      `compile() of the condition engine returned ${came}; return a function, or { fault } with the reason`,
      `compile() of the template engine returned ${came}; return a function, or { fault } with the reason`,
    ])
  })

  it.each(WRONG)(
    'whose compiled template and rule return %s fail that channel, and say what to return',
    (came, given) => {
      const [a] = catalogOf(() => given).find('e')?.channels ?? []
      const rendering = `a template of the engine returned ${came}; return { outcome: 'rendered', text }, `
      expect(a?.fields.text?.(FACTS)).toEqual({ outcome: 'error', detail: expect.stringContaining(rendering) })
      const decision = `a rule of the engine returned ${came}; return { outcome: 'true' }, `
      expect(a?.when?.(FACTS)).toEqual({ outcome: 'error', detail: expect.stringContaining(decision) })
    },
  )

  it('that throws in compile stops the start with the place and the message', () => {
    const fail = (): never => {
      throw new RangeError('no such tag')
    }
    const define = () =>
      defineEvents(
        { e: { channels: { a: { when: { rule: true } as never, text: 'text' } } } },
        { templates: { compile: fail }, conditions: { compile: fail } },
      )
    expect(problemsOf(define)).toEqual([
      'compile() of the condition engine threw: no such tag',
      'compile() of the template engine threw: no such tag',
    ])
  })

  it('whose compiled template and rule throw fail that channel alone', () => {
    const cause = new RangeError('canary')
    const [a] =
      catalogOf(() => {
        throw cause
      }).find('e')?.channels ?? []
    const threw = { outcome: 'error', isLibrary: true, cause }
    expect(a?.fields.text?.(FACTS)).toEqual({ ...threw, detail: 'the template engine threw' })
    expect(a?.when?.(FACTS)).toEqual({ ...threw, detail: 'the condition engine threw' })
  })

  it.each([
    ['a text', 'data.id'],
    ['a list with a hole', [undefined]],
    ['a list of texts', ['data.id']],
    ['a path that is a text', [{ path: 'data.id' }]],
  ])('whose reads are %s stops the start', (_, reads) => {
    const detail = 'the engine gave "reads" that are no list of { path } with a list of names'
    expect(problemsOf(() => catalogOf(Object.assign(() => {}, { reads })))).toEqual([detail, detail])
  })

  it('whose template returns a promise of a wrong value fails that channel', async () => {
    const [a] = catalogOf(async () => 'canary').find('e')?.channels ?? []
    const detail = expect.stringContaining('a template of the engine returned a string; return ')
    expect(await a?.fields.text?.(FACTS)).toEqual({ outcome: 'error', detail })
  })
})

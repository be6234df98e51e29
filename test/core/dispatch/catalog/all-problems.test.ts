import { describe, expect, it } from 'vitest'
import { jsonLogic } from '../../../../src/engines/json-logic.ts'
import { liquid } from '../../../../src/engines/liquid.ts'
import { problems } from './catalog-problems.ts'

const engines = { templates: liquid(), conditions: jsonLogic() }
const at = (text: string): object => ({ one: { channels: { email: { text } } } })

describe('defineEvents reports independent mistakes at once, each as one problem', () => {
  it.each<[string, number, unknown]>([
    ['two unknown filters in one output', 2, at('{{ data.a | upcas | downcas }}')],
    ['an unknown tag and two unknown names', 3, at('{% includ "x" %}{{ id }}{{ total }}')],
    ['an unknown block tag with its end', 1, at('{% iff data.x %}{{ data.y }}{% endiff %}')],
    ['an unknown filter before an output that does not end', 2, at('{{ data.a | upcas }} {{ data.b')],
    [
      'rules, fields, digest, overrides and locales of one event',
      7,
      {
        one: {
          when: { and: [{ eq: [1, 1] }, { '==': [{ var: 'total' }, 1] }] },
          digest: { windowMs: 0 },
          overrides: ['emial'],
          channels: {
            email: {
              subject: '{{ data.a | upcas }}',
              text: '{{ id }}',
              locales: { de: { text: '{{ data.b | nix }}' } },
            },
          },
        },
      },
    ],
  ])('%s: %d', (_, count, definitions) => {
    const found = problems(definitions, engines)
    expect(found, JSON.stringify(found)).toHaveLength(count)
  })

  it('A misspelt engine is one problem', () => {
    expect(problems(at('{{ data.a }}'), { template: liquid() } as never)).toHaveLength(1)
  })
})

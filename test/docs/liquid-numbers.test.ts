import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { text } from '../engines/compile.ts'
import { ROOT } from '../support/entries.ts'

const page = readFileSync(new URL('docs/templates.md', ROOT), 'utf8')
const [, section = ''] = page.split('## Numbers in Liquid\n')
const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(.*?)` \| `(.*?)` \|/gm)]

describe('the documented numbers', () => {
  it('The page has a table of them', () => expect(rows.length).toBeGreaterThanOrEqual(7))

  it.each(rows.map(([, expression = '', result = '']) => [expression.replaceAll('\\|', '|'), result]))(
    '%s gives %s',
    async (expression, result) => expect(await text(`{{ ${expression} }}`)).toBe(result),
  )

  it('A number of the data becomes a decimal by a factor', async () => {
    expect(await text('{{ data.price | times: 1.0 | divided_by: 4 }}', { price: 10 })).toBe('2.5')
  })
})

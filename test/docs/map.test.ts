import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'

const page = readFileSync(new URL('.github/CONTRIBUTING.md', ROOT), 'utf8')
const [, section = ''] = page.split('## Map of the code\n')
const [map = ''] = section.split('\n## ')
const rows = [...map.matchAll(/^\| (.+\?) \| `(.+)` \|$/gm)].map(([, question = '', path = '']) => ({
  question,
  path,
}))

describe('the map of the code', () => {
  it('The map of the code answers at least 40 different questions', () => {
    expect(new Set(rows.map(({ question }) => question)).size).toBe(rows.length)
    expect(rows.length).toBeGreaterThanOrEqual(40)
  })

  it('Each row of the map has only a question and one path', () => {
    const lines = map.split('\n').filter((line) => line.startsWith('|'))
    expect(lines).toHaveLength(rows.length + 2)
  })

  it.each(rows)('The map names an existing file: $question', ({ path }) => {
    expect(existsSync(new URL(path, ROOT))).toBe(true)
  })
})

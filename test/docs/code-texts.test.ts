import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CODE_TEXTS, ISSUE_TEXTS } from '../../src/code-texts.ts'
import { PROBLEM_CODES } from '../../src/errors.ts'
import { withCodeTexts } from './error-sections.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')

describe('texts of codes', () => {
  it.each(PROBLEM_CODES)('%s says in sentences what it means and what helps', (code) => {
    const { means, next } = CODE_TEXTS[code]
    for (const text of [means, next]) expect(text).toMatch(/^[A-Z][^\n]+\.$/)
  })

  it('A text that differs is replaced in its section and in its row', () => {
    const { means, next } = CODE_TEXTS.invalid_token
    const other = page.replace(`${means} ${next}`, 'Something else.').replace(ISSUE_TEXTS.conflict, 'something else')
    expect(other).not.toBe(page)
    expect(withCodeTexts(other)).toBe(page)
  })
})

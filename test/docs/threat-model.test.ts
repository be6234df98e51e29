import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { missingTests } from './named-tests.ts'

const [, page = ''] = readFileSync(new URL('docs/security.md', ROOT), 'utf8').split('## Threat model\n')
const lines = page.split('\n')
const claims = lines.filter((line) => /^\| (?!attack |mistake )/.test(line))

describe('the threat model', () => {
  it('Every test that the threat model names exists', () => {
    expect(missingTests(page)).toEqual([])
  })

  it('The threat model names at least one test for each claim', () => {
    expect(claims.length).toBeGreaterThan(40)
    expect(claims.filter((line) => !/\| `test\/[^|]+` \|$/.test(line))).toEqual([])
  })

  it('The threat model names the remaining risks of every actor', () => {
    const sections = page
      .split(/^### /m)
      .filter((section) => section.includes('held by') || section.startsWith('Who reads'))
    expect(sections.length).toBe(8)
    expect(sections.filter((section) => !section.includes('**What remains possible**'))).toEqual([])
  })

  it('The threat model has at most 170 lines', () => {
    expect(lines.length).toBeLessThanOrEqual(170)
  })
})

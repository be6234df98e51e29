import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'

const page = readFileSync(new URL('docs/threat-model.md', ROOT), 'utf8')
const lines = page.split('\n')
const named = [...new Set([...page.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path))]
const claims = lines.filter((line) => /^\| (?!attack: |mistake: )/.test(line))

/** Whether a path is a test file, or a folder with TypeScript files. */
function hasTests(path: string): boolean {
  const found = statSync(new URL(path, ROOT), { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found !== undefined && /\b(?:it|test|describe)\b/.test(read(path))
  const files = readdirSync(new URL(path, ROOT), { recursive: true, encoding: 'utf8' })
  return path.endsWith('/') && files.some((file) => file.endsWith('.ts'))
}

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

describe('the threat model', () => {
  it('Every test that the threat model names exists', () => {
    expect(named.filter((path) => !hasTests(path))).toEqual([])
  })

  it('The threat model names at least one test for each claim', () => {
    expect(claims.length).toBeGreaterThan(40)
    expect(claims.filter((line) => !/\| `test\/[^|]+` \|$/.test(line))).toEqual([])
  })

  it('The threat model names the remaining risks of every actor', () => {
    const sections = page
      .split(/^## /m)
      .filter((section) => section.includes('held by') || section.startsWith('Who reads'))
    expect(sections.length).toBe(8)
    expect(sections.filter((section) => !section.includes('**Stays**'))).toEqual([])
  })

  it('The threat model has at most 150 lines', () => {
    expect(lines.length).toBeLessThanOrEqual(150)
  })
})

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'

const page = readFileSync(new URL('docs/threat-model.md', ROOT), 'utf8')
const lines = page.split('\n')
const named = [...new Set([...page.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path))]
const claims = lines.filter((line) => /^\| (?!attack: |mistake: )/.test(line))

/** A file that tests, or a folder with one in it. */
function holds(path: string): boolean {
  const found = statSync(new URL(path, ROOT), { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found !== undefined && /\b(?:it|test|describe)\b/.test(read(path))
  const files = readdirSync(new URL(path, ROOT), { recursive: true, encoding: 'utf8' })
  return path.endsWith('/') && files.some((file) => file.endsWith('.ts'))
}

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

describe('the threat model', () => {
  it('names tests that are there', () => {
    expect(named.filter((path) => !holds(path))).toEqual([])
  })

  it('names at least one for each claim', () => {
    expect(claims.length).toBeGreaterThan(40)
    expect(claims.filter((line) => !/\| `test\/[^|]+` \|$/.test(line))).toEqual([])
  })

  it('says of every actor what stays', () => {
    const sections = page
      .split(/^## /m)
      .filter((section) => section.includes('held by') || section.startsWith('Who reads'))
    expect(sections.length).toBe(8)
    expect(sections.filter((section) => !section.includes('**Stays**'))).toEqual([])
  })

  it('is short enough to be read', () => {
    expect(lines.length).toBeLessThanOrEqual(150)
  })
})

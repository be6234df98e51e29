import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CONVENTIONS } from '../../src/otel/conventions.ts'
import { ROOT } from '../support/entries.ts'

const { repository, release, commit, date, schemaUrl } = CONVENTIONS

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

describe('the pinned conventions', () => {
  it('The guide links to the commit and names its date, its schema and the release', () => {
    const guide = read('docs/opentelemetry.md')
    expect([`${repository}/tree/${commit}`, date, schemaUrl, release].filter((part) => !guide.includes(part))).toEqual(
      [],
    )
  })

  it('The decision names the commit and the release', () => {
    const decision = read('docs/decisions/0036-genai-conventions-are-pinned.md')
    expect([commit.slice(0, 8), release].filter((part) => !decision.includes(part))).toEqual([])
  })
})

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ISSUE_TEXTS } from '../../src/code-texts.ts'
import { type FaultCode, PROBLEM_CODES, statusOf } from '../../src/errors.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const headings = [...page.matchAll(/^### `([a-z_]+)`\n\n(?:\*\*(\d{3})\.\*\*)?/gm)]

/** Every code of a fault; the compiler checks that none is missing. */
const FAULTS: Record<FaultCode, true> = {
  events_invalid: true,
  config_invalid: true,
  option_invalid: true,
  peer_missing: true,
  answer_invalid: true,
  no_answer: true,
  record_unreadable: true,
}

it('docs/errors.md has a heading with a status for exactly the problem codes', () => {
  const documented = headings.flatMap(([, code, status]) => (status ? `${code} ${status}` : []))
  expect(documented.sort()).toEqual(PROBLEM_CODES.map((code) => `${code} ${statusOf(code)}`).sort())
})

it('docs/errors.md lists every issue code', () => {
  const documented = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code]) => code)
  expect(documented.sort()).toEqual(Object.keys(ISSUE_TEXTS).sort())
})

it('docs/errors.md lists every error of the host', () => {
  const documented = headings.flatMap(([, code, status]) => (status ? [] : code))
  expect(documented.sort()).toEqual(Object.keys(FAULTS).sort())
})

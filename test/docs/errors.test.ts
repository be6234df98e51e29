import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type FaultCode, type IssueCode, PROBLEM_CODES, statusOf } from '../../src/errors.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const headings = [...page.matchAll(/^### `([a-z_]+)`(?: · (\d{3}))?$/gm)]

/** Every issue code; the compiler checks that none is missing. */
const ISSUES: Record<IssueCode, true> = {
  required: true,
  type: true,
  format: true,
  too_short: true,
  too_long: true,
  too_many: true,
  out_of_range: true,
  not_allowed: true,
  invalid: true,
  missing_template_data: true,
  conflict: true,
  too_deep: true,
  nul_character: true,
  lone_surrogate: true,
  forbidden_key: true,
}

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
  expect(documented.sort()).toEqual(Object.keys(ISSUES).sort())
})

it('docs/errors.md lists every error of the host', () => {
  const documented = headings.flatMap(([, code, status]) => (status ? [] : code))
  expect(documented.sort()).toEqual(Object.keys(FAULTS).sort())
})

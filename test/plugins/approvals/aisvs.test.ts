import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { missingTests, testsNamedIn } from '../../docs/named-tests.ts'
import { ROOT } from '../../support/entries.ts'

const page = readFileSync(new URL('docs/approvals.md', ROOT), 'utf8')
const [, section = ''] = /^## OWASP AISVS C9\.2\n(.*?)^## /ms.exec(page) ?? []
const rows = [...section.matchAll(/^\| (\d\S*) \| ([^|]+) \| ([^|]+) \| ([^|]*)\|$/gm)].map(
  ([, number = '', demand = '', claim = '', tests = '']) => ({ number, demand, claim, tests: testsNamedIn(tests) }),
)

describe('the table of AISVS requirements', () => {
  it('It has each requirement of C9.2 and the one on time-outs, in their order', () => {
    const ofApproval = Array.from({ length: 10 }, (_, at) => `9.2.${at + 1}`)
    expect(rows.map(({ number }) => number)).toEqual([...ofApproval, '9.6.2'])
  })

  it('It says of each whether it is met, and names a test for each that is', () => {
    const [claimed, others] = [/^(?:met|partly)\b/, /^(?:not met|the host's part)\b/]
    expect(rows.filter(({ claim }) => !claimed.test(claim) && !others.test(claim))).toEqual([])
    expect(rows.filter(({ claim, tests }) => claimed.test(claim) !== tests.length > 0)).toEqual([])
  })

  it('Every test that the page names exists', () => {
    expect(missingTests(page)).toEqual([])
  })

  it('It cites a version of the standard that does not change', () => {
    expect(page).toMatch(/^\[aisvs\]: https:\/\/github\.com\/OWASP\/AISVS\/blob\/[0-9a-f]{40}\/1\.0\/en\/\S+C09\S+$/m)
    const [, commit = ''] = /blob\/([0-9a-f]{40})/.exec(page) ?? []
    const [, cited = ''] = /commit `([0-9a-f]{7,})`/.exec(section) ?? ['', 'none']
    expect(commit.startsWith(cited)).toBe(true)
  })
})

import assert from 'node:assert/strict'
import { type IssueCode, PROBLEM_CODES, type ProblemCode, statusOf } from '../../../src/errors.ts'
import type { Reply } from '../../support/host-call.ts'
import { CANARY } from './hostile-texts.ts'

const ISSUE_CODES: Readonly<Record<IssueCode, true>> = {
  ...{ required: true, type: true, format: true, too_short: true, too_long: true, too_many: true, out_of_range: true },
  ...{ not_allowed: true, invalid: true, missing_template_data: true, conflict: true, too_deep: true },
  ...{ nul_character: true, lone_surrogate: true, forbidden_key: true },
}
/** What is told of a place where there is nothing. */
const ABSENT: readonly string[] = ['required', 'missing_template_data']
const MAX_ERRORS = 50

/** Checks an answer to what nobody should send; `body` is what a parser makes of it, `undefined` where it makes nothing. */
export function checkAnswer(reply: Pick<Reply, 'status' | 'headers' | 'text' | 'json'>, body: unknown): void {
  const { status, headers, text, json } = reply
  assert.ok(status < 500, `answered ${status}: ${text}`)
  if (status < 300) {
    assert.equal(headers['content-type'], 'application/json')
    for (const warning of warningsOf(json)) checkWarning(warning, body)
    for (const [index, result] of resultsOf(json).entries()) checkResult(result, index, body)
    return
  }
  assert.equal(headers['content-type'], 'application/problem+json')
  assert.ok(!JSON.stringify(headers).includes(CANARY))
  checkProblem(json, status, body)
}

interface Reported {
  readonly pointer: string
  readonly code: string
  readonly detail: string
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is there
function warningsOf(answer: any): readonly Reported[] {
  assert.ok(Array.isArray(answer.warnings ?? []))
  return answer.warnings ?? []
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is there
function resultsOf(answer: any): readonly any[] {
  return answer.results ?? []
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is there
function checkResult(result: any, index: number, body: unknown): void {
  if (result.problem) checkProblem(result.problem, result.status, body, `/runs/${index}`)
  else for (const warning of warningsOf(result)) checkWarning(warning, body)
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is there
function checkProblem(problem: any, status: number, body: unknown, descendants = ''): void {
  const { type, title, detail, code, requestId, errors = [], limit, ...rest } = problem
  assert.deepEqual(rest, { status })
  assert.ok(PROBLEM_CODES.includes(code), `an unknown code: ${code}`)
  assert.equal(statusOf(code as ProblemCode), status)
  assert.ok(status < 500, `answered ${status}: ${JSON.stringify(problem)}`)
  assert.equal(type, `urn:sallyport:problem:${code}`)
  for (const text of [title, detail, requestId]) assert.ok(typeof text === 'string' && text !== '')
  assert.ok(limit === undefined || limit > 0)
  assert.ok(errors.length <= MAX_ERRORS)
  for (const issue of errors) {
    assert.ok(Object.hasOwn(ISSUE_CODES, issue.code), `an unknown code: ${issue.code}`)
    assert.ok(issue.pointer.startsWith(descendants))
    checkPlace(issue, body, ABSENT.includes(issue.code))
  }
  assert.ok(!JSON.stringify(problem).includes(CANARY), `tells what was sent: ${JSON.stringify(problem)}`)
}

/** Where a run ends is warned of whichever post told it. */
function checkWarning(warning: Reported, body: unknown): void {
  assert.ok(!JSON.stringify(warning).includes(CANARY), `tells what was sent: ${JSON.stringify(warning)}`)
  checkPlace(warning, body, warning.code === 'clamped')
}

/** A pointer leads to something in the body; to nothing only at its end, and only where that is what is told. */
function checkPlace({ pointer, code, detail }: Reported, body: unknown, mayBeAbsent: boolean): void {
  assert.ok(typeof detail === 'string' && detail !== '')
  assert.ok(pointer === '' || pointer.startsWith('/'))
  let at = body
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, key)
    if (!isThere && mayBeAbsent) return
    assert.ok(isThere, `${code} at ${pointer}, which is not in the body`)
    at = (at as Record<string, unknown>)[key]
  }
}

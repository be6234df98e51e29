import assert from 'node:assert/strict'
import { type IssueCode, PROBLEM_CODES, type ProblemCode, statusOf } from '../../../src/errors.ts'
import type { Reply } from '../../support/host-call.ts'
import { CANARY } from './hostile-texts.ts'

const ISSUE_CODES: Readonly<Record<IssueCode, true>> = {
  ...{ required: true, type: true, format: true, too_short: true, too_long: true, too_many: true, out_of_range: true },
  ...{ not_allowed: true, invalid: true, missing_template_data: true, conflict: true, too_deep: true },
  ...{ nul_character: true, lone_surrogate: true, forbidden_key: true },
}
/** Issue codes whose pointer may lead to an absent place. */
const ABSENT: readonly string[] = ['required', 'missing_template_data']
const MAX_ERRORS = 50

/** Checks the answer to a hostile request. `body` is the parsed body, or `undefined` if it is no JSON. */
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
function checkProblem(problem: any, status: number, body: unknown, prefix = ''): void {
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
    assert.ok(issue.pointer.startsWith(prefix))
    // Faults of the query are in no body.
    if (code !== 'query_invalid') checkPlace(issue, body, ABSENT.includes(issue.code))
  }
  assert.ok(!JSON.stringify(problem).includes(CANARY), `shows sent values: ${JSON.stringify(problem)}`)
}

/** A clamped end of a run is reported for any post of that run, also one without an end. */
function checkWarning(warning: Reported, body: unknown): void {
  assert.ok(!JSON.stringify(warning).includes(CANARY), `shows sent values: ${JSON.stringify(warning)}`)
  checkPlace(warning, body, warning.code === 'clamped')
}

/** A pointer leads to a place in the body. Only its last part may be absent, and only for codes that allow it. */
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

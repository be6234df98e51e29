import { expect } from 'vitest'
import type { HandlerRequest } from '../../../src/core/answers/result.ts'
import { SECRETS } from './callers.ts'
import { type Answers, ASKS, type Ask, type Fault } from './fault.ts'
import { KEY_TEXTS } from './signing.ts'
import type { TestApp } from './test-app.ts'

/** An answer, from a handler or a server. */
export interface Seen {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The body as sent. */
  readonly text: string
}

/** Sends one request to a handler or a server. */
export type Asking = (ask: Ask, request: HandlerRequest) => Promise<Seen>

const CHALLENGES: Readonly<Record<string, string>> = {
  unauthorized: 'Bearer realm="sallyport"',
  invalid_token: 'Bearer realm="sallyport", error="invalid_token"',
  insufficient_scope: 'Bearer realm="sallyport", error="insufficient_scope"',
}

let runs = 0

/** Sends all requests with a row's fault, and compares the answers with the row. */
export async function assertRow(
  fault: Fault,
  expected: Answers,
  { logger, written }: TestApp,
  ask: Asking,
): Promise<void> {
  const given: Record<string, string> = {}
  written()
  for (const each of ASKS) {
    const seen = await ask(each, requestOf(each, fault))
    given[each] = answerOf(seen)
    assertShape(seen)
    assertNoSecret([JSON.stringify(seen), JSON.stringify(logger.lines.splice(0))], [fault.token, SECRETS.good])
  }
  expect(given).toEqual(expected)
  expect(written()).toEqual(writesOf(expected, fault.tenant ?? 'default'))
}

/** A valid request with the row's fault in it. */
function requestOf(ask: Ask, fault: Fault): HandlerRequest {
  const { token, authorization = `Bearer ${token}`, headers, query, event, sessions = ['s1'] } = fault
  const posts = sessions.map((sessionId) => ({ sessionId, run: { runId: `r${++runs}` } }))
  const bodies: Readonly<Record<'run' | 'batch', unknown>> = { run: posts[0], batch: { runs: posts } }
  const dispatch = { eventType: 'order.shipped', recipient: 'user_42', channel: 'email', ...event }
  return {
    headers: { ...headers, ...(authorization !== null && { authorization }) },
    query: { ...(ask === 'dry run' && { dryRun: 'true' }), ...query },
    body: ask === 'run' || ask === 'batch' ? bodies[ask] : dispatch,
  }
}

/** The status and code of an answer, and of each post in a batch. */
function answerOf({ status, text }: Seen): string {
  const body = text.startsWith('{') ? JSON.parse(text) : {}
  const results = (body.results as { status: number; problem?: { code: string } }[] | undefined)?.map((result) =>
    reported(result.status, result.problem?.code),
  )
  return results ? `${reported(status, body.code)} [${results.join(', ')}]` : reported(status, body.code)
}

function reported(status: number, code: string | undefined): string {
  return code === undefined ? `${status}` : `${status} ${code}`
}

/** RFC 6750 and RFC 9457: the challenge matches the code, and a problem has all required members. */
function assertShape({ status, headers, text }: Seen): void {
  const problem = text.startsWith('{') ? JSON.parse(text) : {}
  expect(headers['www-authenticate']).toBe(CHALLENGES[problem.code])
  expect(headers['retry-after']).toBe(status === 503 ? '1' : undefined)
  if (problem.code === undefined) return
  const { code } = problem
  expect(problem).toMatchObject({ type: `urn:sallyport:problem:${code}`, status, title: expect.any(String) })
  expect(problem.requestId).toMatch(/^req_/)
}

/** This many characters identify a token. */
const IDENTIFYING_LENGTH = 8

/** No answer and no log line holds a part of a token or a key. */
function assertNoSecret(texts: readonly string[], tokens: readonly string[]): void {
  for (const secret of new Set([...tokens, ...KEY_TEXTS])) {
    for (let at = 0; at + IDENTIFYING_LENGTH <= secret.length; at++) {
      const part = secret.slice(at, at + IDENTIFYING_LENGTH)
      const reported = texts.find((text) => text.includes(part))
      if (reported !== undefined) expect.unreachable(`"${part}" of a secret is in ${reported}`)
    }
  }
}

function writesOf({ dispatch, run, batch }: Answers, tenant: string): string[] {
  const runs = [run, ...(/\[(.*)\]/.exec(batch)?.[1]?.split(', ') ?? [])].filter((answer) => answer === '201')
  return [...(dispatch === '202' ? [`dispatch of ${tenant}`] : []), ...runs.map(() => `run of ${tenant}`)]
}

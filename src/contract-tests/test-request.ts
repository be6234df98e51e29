import { matching, text } from '../options/checks.ts'
import { type Check, type Checks, isRecord, readOptions } from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'

/** Parts of a test request. */
export interface TestRequestParts {
  /** Bearer token. Default: none. */
  readonly token?: string
  /** The parsed JSON. Default: `{}`. */
  readonly body?: unknown
  /** Names in any case. `authorization` may replace `token`. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** A request without HTTP, for `handleDispatch` and `handleSessionRun`. */
export interface TestRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: unknown
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Used by the read API, which these handlers do not serve. */
  readonly parameters?: Readonly<Record<string, string>>
}

const record: Check = matching(isRecord, 'must be an object', kindOf)

const CHECKS: Checks<TestRequestParts> = { token: text, body: () => undefined, headers: record, query: record }

/** Creates a request for a handler, to test its answer without HTTP. */
export function testRequest(parts: TestRequestParts = {}): TestRequest {
  const { token, body = {}, headers = {}, query } = readOptions('testRequest', parts, CHECKS)
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return {
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...Object.fromEntries(named) },
    body,
    ...(query && { query }),
  }
}

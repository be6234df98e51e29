import type { JsonValue } from '../model/json.ts'
import { isVisibleAscii } from '../model/principal.ts'
import { fn, like, matching } from '../options/checks.ts'
import { type Checks, required } from '../options/read-options.ts'

/** Access level: `none` sees nothing (404), `read` everything, `operate` also changes. */
export type ConsoleLevel = 'none' | 'read' | 'operate'

/** Access of one request. */
export interface ConsoleAccess {
  readonly access: ConsoleLevel
  /** Name shown in the console. Default: none. */
  readonly user?: string | undefined
  /** The only tenant that it sees. Default: `default`. */
  readonly tenant?: string | undefined
}

/** Place of a value in an answer. */
export interface RedactedField {
  /** Name of the member; of its list, for an item. */
  readonly field: string
  /** JSON Pointer within the answer, such as `/items/0/recipient`. */
  readonly pointer: string
}

/** Options of `createConsole`. */
export interface ConsoleOptions<HostRequest = unknown> {
  /**
   * Decides by the host's own session what a request may see. It gets what the host's framework gave: Express's `req`, Koa's context, a
   * `Request` and the arguments after it. With `none`, and when it throws, every path is 404. Called for every request, also of scripts
   * and styles.
   */
  readonly access: (
    request: HostRequest,
    ...context: readonly unknown[]
  ) => ConsoleLevel | ConsoleAccess | Promise<ConsoleLevel | ConsoleAccess>
  /**
   * Returns what to show instead of a value; called for each text, number and flag of each answer. What it hides never leaves the server.
   * If it throws, the request is answered 500. Default: shows everything.
   */
  readonly redact?: ((value: string | number | boolean, at: RedactedField) => JsonValue) | undefined
  /** Title of the pages, 1 to 100 characters. Default: `Sallyport`. */
  readonly title?: string | undefined
  /**
   * Public path of the console, such as `/ops`, for a host that removes it from the URL, such as `mount` of Hono. Default: from the URL.
   */
  readonly path?: string | undefined
}

export const CONSOLE_CHECKS: Checks<ConsoleOptions> = {
  access: required(fn),
  redact: fn,
  title: matching(
    (value) => typeof value === 'string' && value.length >= 1 && value.length <= 100,
    'must be 1 to 100 characters',
  ),
  path: like(/^(?:\/[\w.~-]+)+$/, 'must be a plain path such as "/ops"'),
}

/** Access with every member. */
export type Granted = { readonly [Member in keyof ConsoleAccess]-?: NonNullable<ConsoleAccess[Member]> }

const LEVELS: readonly unknown[] = ['none', 'read', 'operate'] satisfies ConsoleLevel[]

const MAX_USER = 200

/** @throws {TypeError} For a value that is no access. */
export function readAccess(given: unknown): Granted {
  const { access, user = '', tenant = 'default' } = typeof given === 'string' ? { access: given } : Object(given)
  if (!LEVELS.includes(access)) throw new TypeError("access() gave neither 'none', 'read' nor 'operate'")
  if (typeof user !== 'string') throw new TypeError('access() gave a user that is no string')
  if (!isVisibleAscii(tenant)) throw new TypeError('access() gave a tenant that is no 1-200 visible ASCII characters')
  return { access, user: user.slice(0, MAX_USER), tenant }
}

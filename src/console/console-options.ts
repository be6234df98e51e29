import { isVisibleAscii } from '../model/principal.ts'
import { fn, matching } from '../options/checks.ts'
import { type Checks, required } from '../options/read-options.ts'
import type { ConsoleChange } from './console-change.ts'

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
  /**
   * Name of the member; of its list, for an item. For `actual` and `expected` of a condition's trace: the last name of its `path`, such
   * as `email` for `data.email`.
   */
  readonly field: string
  /** JSON Pointer within the answer, such as `/items/0/recipient`. */
  readonly pointer: string
}

/** Options of `createConsole`. */
export interface ConsoleOptions<HostRequest = unknown> {
  /**
   * Decides by the host's own session what a request may see. It gets what the host's framework gave: Express's `req`, Koa's context, a
   * `Request` and the arguments after it. With `none`, every path is 404; also when it throws, gives something else, or is pending after
   * ten seconds: then `onError` gets the error. Called for every request, also of scripts and styles, before the body is read; at most a
   * hundred times at once: a request beyond is 503 at once.
   */
  readonly access: (
    request: HostRequest,
    ...context: readonly unknown[]
  ) => ConsoleLevel | ConsoleAccess | Promise<ConsoleLevel | ConsoleAccess>
  /**
   * Returns what to show instead of a value: a text of at most 1,000 characters or the value's own length, a number, a flag, or `null`.
   * Called for each text, number and flag of each answer, never for names such as keys of metadata, nor for cursors, which hold the
   * times and ids that a list is ordered by. A hidden value never leaves the server, but filters still find by it: a user who knows an
   * address can look for it. If it throws or gives something else, the request is answered 500. Default: shows everything.
   */
  readonly redact?:
    | ((value: string | number | boolean, at: RedactedField) => string | number | boolean | null)
    | undefined
  /**
   * Called after each change that a user made, with the same request as `access`: for a record of who changed what. The answer waits for
   * it, at most ten seconds. An error goes to `onError` as `hook` and does not alter the answer. Default: no record.
   */
  readonly onChange?:
    | ((change: ConsoleChange, request: HostRequest, ...context: readonly unknown[]) => unknown)
    | undefined
  /** Title of the pages, 1 to 100 characters. Default: `Sallyport`. */
  readonly title?: string | undefined
}

export const CONSOLE_CHECKS: Checks<ConsoleOptions> = {
  access: required(fn),
  redact: fn,
  onChange: fn,
  title: matching(
    (value) => typeof value === 'string' && value.length >= 1 && value.length <= 100,
    'must be 1 to 100 characters',
  ),
}

/** Access of a request to which the host has granted it. */
export interface Granted {
  readonly access: Exclude<ConsoleLevel, 'none'>
  readonly user: string
  readonly tenant: string
}

const LEVELS: readonly unknown[] = ['none', 'read', 'operate'] satisfies ConsoleLevel[]

const MAX_USER = 200

/**
 * `undefined`: none.
 *
 * @throws {TypeError} For a value that is no access.
 */
export function readAccess(given: unknown): Granted | undefined {
  const { access, user = '', tenant = 'default' } = typeof given === 'string' ? { access: given } : Object(given)
  if (!LEVELS.includes(access)) throw new TypeError("access() gave neither 'none', 'read' nor 'operate'")
  if (typeof user !== 'string') throw new TypeError('access() gave a user that is no string')
  if (!isVisibleAscii(tenant)) throw new TypeError('access() gave a tenant that is no 1-200 visible ASCII characters')
  return access === 'none' ? undefined : { access, user: user.slice(0, MAX_USER), tenant }
}

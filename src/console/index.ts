/**
 * A console for support staff and operators, mounted into the host behind its own session.
 * @module sallyport/console
 */

import { isRefused, type Refused } from '../core/answers/result.ts'
import type { OpenAction, OpenHandler } from '../core/endpoints.ts'
import { type Caller, fairShares, type Holder } from '../core/load/fair-shares.ts'
import { overloaded } from '../core/load/load-limits.ts'
import { faultOfMountable, MOUNT_CHECKS, type Mountable, mount } from '../http/mount.ts'
import { internalError, notFound } from '../http/wire.ts'
import { problemsAt, readOptions } from '../options/read-options.ts'
import { callHost } from '../pages/call-host.ts'
import { consoleApi } from './console-api.ts'
import { CONSOLE_CHECKS, type ConsoleOptions, type Granted, readAccess } from './console-options.ts'
import { consolePages } from './console-pages.ts'

export type { Mountable } from '../http/mount.ts'
export type { ConsoleChange } from './console-change.ts'
export type { ConsoleAccess, ConsoleLevel, ConsoleOptions, RedactedField } from './console-options.ts'

/** Calls of `access` at once. Requests beyond are refused: nobody knows yet whether they are of staff. */
const MAX_CHECKS = 100

const ANYONE: Holder = { tenant: '', id: 'console' }

/** Age of an access at which `access` is called again: it may have ended while a body was awaited. */
const GRANTED_MS = 1_000

/**
 * Creates a console that every adapter mounts: `app.use('/ops', toExpress(createConsole(sallyport, { access })))`. It reads and changes
 * nothing but what the read API offers.
 *
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
 */
export function createConsole<HostRequest = unknown>(
  sallyport: Mountable,
  options: ConsoleOptions<HostRequest>,
): Mountable {
  const own = readOptions('createConsole', options, CONSOLE_CHECKS, () =>
    problemsAt('sallyport', faultOfMountable(sallyport)),
  ) as ConsoleOptions
  const { endpoints, match } = mount('createConsole', sallyport, {}, MOUNT_CHECKS)
  const checks = fairShares(MAX_CHECKS, (authenticating) =>
    endpoints.logger.log('warn', 'load.shed', { authenticating }),
  )
  const api = consoleApi(endpoints, match, own)
  const pages = consolePages(endpoints, own.title)

  async function accessOf([request, ...context]: readonly unknown[]): Promise<Granted | Refused | undefined> {
    const caller: Caller = { hasLeft: () => false }
    if (!checks.tryAcquire(ANYONE, caller)) return overloaded()
    try {
      return readAccess(await callHost(() => own.access(request, ...context), endpoints.clock))
    } catch (cause) {
      endpoints.report(cause, 'auth', { level: 'error', event: 'console.access_threw' })
      return undefined
    } finally {
      checks.release(caller)
    }
  }

  const find: OpenAction['find'] = async (path, { given, headers }) => {
    const before = await accessOf(given)
    if (!before || isRefused(before)) return before
    const since = endpoints.clock.now()
    const handle: OpenHandler = async (whole) => {
      const isStale = Math.abs(endpoints.clock.now() - since) >= GRANTED_MS
      const granted = isStale ? await accessOf(given) : before
      if (!granted) return notFound(endpoints)
      if (isRefused(granted)) return endpoints.refuse(granted)
      // Those as sent: the type of a body that the host has parsed is no longer its own.
      const request = { ...whole, headers }
      try {
        return path.startsWith('/api/') ? await api(path, request, granted) : pages(path, request, granted)
      } catch (cause) {
        return internalError(endpoints, cause)
      }
    }
    return { handle }
  }

  const open: OpenAction = {
    name: 'console',
    methods: [],
    path: '/',
    parameter: '{path}',
    maxBytes: 262_144,
    accepts: 'json',
    find,
  }
  return { answersAll: true, endpoints: { ...endpoints, open: [open] } }
}

import { matching, whole } from '../options/checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import type { Page } from '../ports/dispatch-query.ts'
import { tenant } from './call-checks.ts'

/** Narrows a read to one tenant. Default: `default`. */
export interface TenantScope {
  readonly tenant?: string | undefined
}

/** Which part of a list to read. */
export interface PageOptions extends TenantScope {
  /** 1-500. Default: 50. */
  readonly limit?: number | undefined
  /** The `nextCursor` of the page before: of the same list, as it was given. */
  readonly cursor?: string | undefined
}

/** Which part of a list to read, and of which session. */
export interface ListOptions extends PageOptions {
  readonly sessionId?: string | undefined
}

/** What narrows a list by time. */
interface Times {
  readonly since?: Date | number | undefined
  readonly until?: Date | number | undefined
}

export const MAX_PAGE = 500
const DEFAULT_PAGE = 50

const SCOPE: Checks<TenantScope> = { tenant }

/** @throws {SallyportError} `option_invalid`, for what cannot be a tenant. */
export function tenantOf(call: string, scope: TenantScope = {}): string {
  return readOptions(call, scope, SCOPE).tenant ?? 'default'
}

/** The checks of {@link PageOptions}, for a list by that name. */
export function pageChecks(list: string): Checks<PageOptions> {
  return {
    tenant,
    limit: whole(1, MAX_PAGE),
    cursor: matching((value) => readCursor(list, value) !== undefined, 'is not a cursor that this list gave'),
  }
}

/** What a store is asked, of options that were checked: in its tenant, with a limit, times in numbers and its own cursor. */
export function listQuery<Options extends ListOptions & Times>(
  list: string,
  { since, until, cursor, ...options }: Options,
): Omit<Options, keyof Times | 'cursor'> & StoreQuery {
  const { tenant = 'default', limit = DEFAULT_PAGE } = options
  const [storeCursor] = readCursor(list, cursor) ?? []
  return {
    ...options,
    tenant,
    limit,
    ...(since !== undefined && { since: Number(since) }),
    ...(until !== undefined && { until: Number(until) }),
    ...(storeCursor !== undefined && { cursor: storeCursor }),
  }
}

interface StoreQuery {
  readonly tenant: string
  readonly limit: number
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly cursor?: string | undefined
}

/** A store's page as a caller sees it. */
export function viewPage<Stored, View>(
  list: string,
  { items, nextCursor }: Page<Stored>,
  view: (item: Stored) => View,
): Page<View> {
  return {
    items: items.map(view),
    ...(nextCursor !== undefined && { nextCursor: writeCursor(list, [nextCursor]) }),
  }
}

/**
 * A cursor for a list by that name. It ends with a checksum over itself and the name: one that was cut, made up, or given by
 * another list is not taken for one that begins at the beginning.
 */
export function writeCursor(list: string, parts: readonly string[]): string {
  return [...parts, checksum([list, ...parts])].map(encodeURIComponent).join(':')
}

/** The parts of a cursor; `undefined`, when that list gave no such cursor. */
export function readCursor(list: string, cursor: unknown): readonly string[] | undefined {
  if (typeof cursor !== 'string') return undefined
  const parts = cursor.split(':').map(decoded)
  const sum = parts.pop()
  return sum === checksum([list, ...parts]) ? parts : undefined
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

/** FNV-1a. It is there against mistakes; a cursor opens nothing that its list would not show. */
function checksum(parts: readonly string[]): string {
  let sum = 0x811c9dc5
  for (const unit of parts.join('\n')) sum = Math.imul(sum ^ (unit.codePointAt(0) ?? 0), 0x01000193)
  return (sum >>> 0).toString(36)
}

import { yieldToEventLoop } from '../core/yield-to-event-loop.ts'
import { matching, whole } from '../options/checks.ts'
import type { Checks } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { Page } from '../ports/dispatch-query.ts'
import { type TenantScope, tenant } from './call-checks.ts'

/** Page of a list to read. */
export interface PageOptions extends TenantScope {
  /** 1-500. Default: 50. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page of the same list, unchanged. */
  readonly cursor?: string | undefined
}

/** Page of a list to read, and its session. */
export interface ListOptions extends PageOptions {
  readonly sessionId?: string | undefined
}

interface Times {
  readonly since?: Date | number | undefined
  readonly until?: Date | number | undefined
}

export const MAX_PAGE = 500
const DEFAULT_PAGE = 50

export function pageChecks(list: string): Checks<PageOptions> {
  return {
    tenant,
    limit: whole(1, MAX_PAGE),
    cursor: matching((value) => readCursor(list, value) !== undefined, 'must be the nextCursor of a page of this list'),
  }
}

/** Converts checked options to the store's query: with a tenant, a limit, times as numbers and the store's own cursor. */
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

/** Writes a cursor (keyset pagination). Its checksum over itself and the list's name detects truncated and foreign cursors. */
export function writeCursor(list: string, parts: readonly string[]): string {
  return [...parts, checksum([list, ...parts])].map(encodeURIComponent).join(':')
}

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

/** FNV-1a: detects mistakes. It needs no secret: a cursor gives access only to data of its list. */
function checksum(parts: readonly string[]): string {
  let sum = 0x811c9dc5
  for (const unit of parts.join('\n')) sum = Math.imul(sum ^ (unit.codePointAt(0) ?? 0), 0x01000193)
  return (sum >>> 0).toString(36)
}

/** Removes in batches until one is not full, and yields to the event loop between them. Returns the number of removed items. */
export async function pruneAll(remove: () => Promise<number>, limit: number, clock: Clock): Promise<number> {
  let pruned = 0
  for (;;) {
    const removed = await remove()
    pruned += removed
    if (removed < limit) return pruned
    await yieldToEventLoop(clock)
  }
}

/** A page as the body of an answer. */
export function pageOf<T>({ items, nextCursor }: Page<T>): { readonly items: readonly T[]; readonly next?: string } {
  return { items, ...(nextCursor !== undefined && { next: nextCursor }) }
}

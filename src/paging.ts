import { isScope } from './core/authenticate.ts'
import { SallyportError } from './errors.ts'

/** Narrows a read to one tenant. Default: `default`. */
export interface TenantScope {
  readonly tenant?: string
}

/** Which part of a list to read. */
export interface ListOptions extends TenantScope {
  readonly sessionId?: string
  /** 1-500. Default: 50. */
  readonly limit?: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string
}

export const MAX_PAGE = 500
const DEFAULT_PAGE = 50

/** @throws {SallyportError} `option_invalid`, for what cannot be a tenant. */
export function tenantOf({ tenant = 'default' }: TenantScope = {}): string {
  if (isScope(tenant)) return tenant
  throw new SallyportError('option_invalid', 'A tenant is 1-200 visible ASCII characters.')
}

/** What a store is asked: with a tenant, and a limit that is one. */
export function listQuery<Options extends ListOptions>(
  options: Options,
): Options & { readonly tenant: string; readonly limit: number } {
  const { limit = DEFAULT_PAGE } = options
  const bounded = Number.isInteger(limit) ? Math.min(Math.max(1, limit), MAX_PAGE) : DEFAULT_PAGE
  return { ...options, tenant: tenantOf(options), limit: bounded }
}

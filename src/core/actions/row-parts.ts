/** Members that rows of the table of actions share. */
export const READ = { operation: 'read', method: 'GET', maxBytes: 0 } as const
export const CHANGE = { operation: 'manage', method: 'POST', maxBytes: 4_096 } as const
/** A read whose parameters are personal: in a query string they would be in access logs. */
export const FIND = { operation: 'read', method: 'POST', maxBytes: 4_096 } as const

/** Query parameters of a list. */
export const PAGE = { cursor: 'text', limit: 'limit' } as const

/** Options of a method. */
export type Only<Method extends (...of: never) => unknown> = NonNullable<Parameters<Method>[0]>

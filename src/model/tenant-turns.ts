/** Maximum number of tenants that one claim visits in a channel. */
export const MAX_TENANTS_VISITED = 32

export const DISPATCH = '/api/outbound/dispatch'
export const RUN = '/api/agents/session/run'
export const BATCH = '/api/agents/session/run/batch'
/** Endpoints without a bearer token, with the parameter `a b`. */
export const FEEDBACK = '/api/outbound/feedback/a%20b'
export const UNSUBSCRIBE = '/api/outbound/unsubscribe/a%20b'

/** The largest body of each path, in bytes. */
export const LIMIT: Readonly<Record<typeof DISPATCH | typeof RUN | typeof BATCH, number>> = {
  [DISPATCH]: 262_144,
  [RUN]: 65_536,
  [BATCH]: 262_144,
}

export const DISPATCH = '/api/outbound/dispatch'
export const RUN = '/api/agents/session/run'
export const BATCH = '/api/agents/session/run/batch'

/** The largest body of each path, in bytes. */
export const LIMIT: Readonly<Record<typeof DISPATCH | typeof RUN | typeof BATCH, number>> = {
  [DISPATCH]: 262_144,
  [RUN]: 65_536,
  [BATCH]: 262_144,
}

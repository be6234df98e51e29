/** How many runs above one are looked at: who walks further up walks in no tree that anybody made on purpose. */
export const MAX_RUNS_ABOVE = 32

/** How many ancestors of a run count. Deeper trees are mistakes. */
export const MAX_RUNS_ABOVE = 32

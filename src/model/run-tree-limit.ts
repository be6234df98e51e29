/** Maximum number of counted ancestors of a run. Deeper trees are mistakes. */
export const MAX_ANCESTORS = 32

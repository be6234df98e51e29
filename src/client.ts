/** Callers of the endpoints. @module */
export {}

/** Runs of other libraries, recorded. @module */
export {}

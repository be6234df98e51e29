/** Marks a store whose data ends with the process. A symbol: a copy of the store keeps it, and the methods do not include it. */
export const IN_MEMORY: symbol = /* @__PURE__ */ Symbol.for('sallyport.in_memory')

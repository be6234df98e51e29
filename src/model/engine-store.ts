/** Marks a store of `engineStore`. A symbol: a copy of the store keeps it, and the methods do not include it. */
export const ENGINE_STORE: unique symbol = /* @__PURE__ */ Symbol.for('sallyport.engine_store')

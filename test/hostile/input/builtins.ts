import assert from 'node:assert/strict'

const BUILTINS: readonly object[] = [
  ...[
    Object,
    Array,
    String,
    Number,
    Boolean,
    Function,
    Promise,
    Map,
    Set,
    RegExp,
    Error,
    Symbol,
    Date,
    BigInt,
    Uint8Array,
  ],
  ...[JSON, Math, Reflect],
].flatMap((one) => (typeof one === 'function' ? [one, one.prototype as object] : [one]))

/** Records the own properties of all built-in prototypes. The returned function fails if one has changed. */
export function watchBuiltins(): () => void {
  const before = [...BUILTINS.map(describe), Reflect.ownKeys(globalThis)]
  return () => assert.deepStrictEqual([...BUILTINS.map(describe), Reflect.ownKeys(globalThis)], before)
}

function describe(builtin: object): ReadonlyMap<PropertyKey, unknown> {
  return new Map(
    Reflect.ownKeys(builtin).map((key) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(builtin, key) ?? {}
      return [key, typeof value === 'object' ? typeof value : (value ?? get ?? set)]
    }),
  )
}

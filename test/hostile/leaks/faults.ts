/** Errors to throw, by the name of a part or of one of its methods: `store`, `store.settle`. */
export type Faults = Map<string, unknown>

/** Wraps a part so that it works, and throws the fault registered for its name. */
export function breakable<Part extends object>(name: string, part: Part, faults: Faults): Part {
  return new Proxy(part, {
    get(target, member) {
      const own: unknown = Reflect.get(target, member)
      if (typeof own !== 'function') return own
      return (...args: unknown[]) => {
        for (const each of [name, `${name}.${String(member)}`]) if (faults.has(each)) throw faults.get(each)
        return Reflect.apply(own, target, args)
      }
    },
  })
}

/** What the parts of a host throw, by the name of the part or of one method of it: `store`, `store.settle`. */
export type Faults = Map<string, unknown>

/** A part of a host that does its work, and throws whatever there is for its name. */
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

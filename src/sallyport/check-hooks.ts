import type { ConfigProblem } from '../errors.ts'
import { type Check, type Checks, type GivenOptions, isRecord, near, problemsIn } from '../options/read-options.ts'

/**
 * The check of hooks. They may be an instance of a class, which may have members of its own, such as counters and methods. One of these,
 * own or inherited, counts as a misspelt hook if its name is near to that of a hook which the instance lacks, and begins with the same
 * letter.
 */
// @__NO_SIDE_EFFECTS__
export function hooksOf<Hooks>(checks: Checks<Hooks>): Check {
  const names = Object.keys(checks)
  return (value) => {
    const members = isRecord(value) ? membersOf(value) : undefined
    if (!isRecord(value) || !members) return problemsIn(value, checks)
    const hooks = Object.fromEntries(names.map((name) => [name, value[name]]))
    return [...misspeltAmong(members, value, names), ...problemsIn(hooks, checks)]
  }
}

/** The names of an instance of a class, own and inherited; `undefined` for an object that is none. */
function membersOf(value: GivenOptions): ReadonlySet<string> | undefined {
  const chain: object[] = [value]
  for (let at = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) chain.push(at)
  // The last one is `Object.prototype`, of this realm or another.
  return chain.length > 2 ? new Set(chain.slice(0, -1).flatMap(Object.getOwnPropertyNames)) : undefined
}

function misspeltAmong(members: ReadonlySet<string>, value: GivenOptions, names: readonly string[]): ConfigProblem[] {
  const lacking = names.filter((name) => !(name in value))
  return [...members].flatMap((field) => {
    const alike = names.includes(field) ? [] : lacking.filter((name) => name[0] === field[0])
    const nearest = near(field, alike)
    return nearest ? [{ field, detail: `is not an option${nearest}` }] : []
  })
}

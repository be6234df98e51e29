import type { ConfigProblem } from '../errors.ts'
import { type Check, type Checks, type GivenOptions, isRecord, near, problemsIn } from '../options/read-options.ts'

/** Checks hooks. A member of a class instance is a misspelt hook if its name is near a missing one and has its first letter. */
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

/** Own and inherited names of a class instance; `undefined` for a plain object. */
function membersOf(value: GivenOptions): ReadonlySet<string> | undefined {
  const chain: object[] = [value]
  for (let at = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) chain.push(at)
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

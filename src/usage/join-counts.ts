import { membersOf } from '../model/json.ts'
import type { Usage } from './members.ts'

/** Joins two usage objects: two numbers of one member as `join` says, objects likewise; of other values, the later one that is known. */
export function joinCounts(before: Usage, after: Usage, join: (before: number, after: number) => number): Usage {
  const joined = new Map(Object.entries(before))
  for (const [name, value] of Object.entries(after)) {
    const known = joined.get(name)
    const [inner, other] = [membersOf(known), membersOf(value)]
    if (typeof known === 'number' && typeof value === 'number') joined.set(name, join(known, value))
    else if (inner && other) joined.set(name, joinCounts(inner, other, join))
    else if (value !== undefined && value !== null) joined.set(name, value)
  }
  return Object.fromEntries(joined)
}

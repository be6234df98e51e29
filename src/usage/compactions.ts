import { membersOf } from '../model/json.ts'
import { joinCounts } from './join-counts.ts'
import type { Usage } from './members.ts'

/** Adds the tokens of Anthropic's compactions, which its totals leave out: "sum across all entries" of `iterations` (its docs). */
export function withCompactions(usage: Usage): Usage {
  const { iterations } = usage
  if (!Array.isArray(iterations)) return usage
  const calls = iterations.map(membersOf).filter((call) => call?.type === 'compaction' || call?.type === 'message')
  if (!calls.some((call) => call?.type === 'compaction')) return usage
  return calls.reduce<Usage>((sum, call) => joinCounts(sum, call ?? {}, (one, other) => one + other), {
    ...usage,
    ...Object.fromEntries(calls.flatMap((call) => Object.keys(call ?? {})).map((name) => [name, undefined])),
  })
}

import { membersOf } from '../model/json.ts'
import type { ReadFault } from '../model/read-fault.ts'
import type { RunCounts } from '../model/run.ts'
import { KNOWN_COUNTS, readCounts } from './counts.ts'
import { usageParts } from './parts.ts'
import { type ReadUsage, SHAPES } from './read-usage.ts'
import { readingOf } from './shape.ts'

/** Counts of a post, and what it says under the names of a provider, which belong in `usage`. */
export interface PostedCounts {
  readonly counts: RunCounts
  /** Names of a provider, and what they mean; `usage` is `undefined` if that is not understood. */
  readonly spelled?: { readonly names: readonly string[]; readonly usage: ReadUsage | undefined }
}

/** Reads counts; those under the names of a provider are read by `read`, as if they stood in `usage`. */
export function readPostedCounts(
  value: unknown,
  faults: ReadFault[],
  read: (usage: object, faults: ReadFault[]) => ReadUsage | undefined,
): PostedCounts {
  const members = Object.entries(membersOf(value) ?? {})
  const spelled = members.filter(([name, count]) => SPELLINGS.has(name) && count !== undefined && count !== null)
  if (spelled.length === 0) return { counts: readCounts(value, faults) }
  const own = members.filter(([name]) => !SPELLINGS.has(name))
  const usage = read(Object.fromEntries(spelled), faults)
  return {
    counts: readCounts(Object.fromEntries(own), faults),
    spelled: { names: spelled.map(([name]) => name), usage },
  }
}

/** Single words, such as `input` or `results`, may be counters of a host. */
const SINGLE_WORD = /^[a-z]+$/

const SPELLINGS: ReadonlySet<string> = new Set(
  membersRead().filter((name) => !KNOWN_COUNTS.has(name) && !SINGLE_WORD.test(name)),
)

/** Names of all members that a shape reads. */
function membersRead(): string[] {
  const names = new Set<string>()
  const usage = new Proxy(
    {},
    {
      get(_, name) {
        names.add(String(name))
        return undefined
      },
    },
  )
  for (const [shape] of SHAPES) shape(readingOf(usage))
  usageParts(readingOf(usage))
  return [...names]
}

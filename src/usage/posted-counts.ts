import { membersOf } from '../model/json.ts'
import type { ReadFault } from '../model/read-fault.ts'
import type { RunCounts } from '../model/run.ts'
import { KNOWN_COUNTS, readCounts } from './counts.ts'
import { camelCase } from './members.ts'
import { PART_PLACES } from './parts.ts'
import type { ReadUsage } from './read-usage.ts'
import { SHAPES } from './shapes.ts'

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
  const spelled = members.filter(([name, count]) => isSpelling(name) && count !== undefined && count !== null)
  if (spelled.length === 0) return { counts: readCounts(value, faults) }
  const own = members.filter(([name]) => !isSpelling(name))
  const usage = read(Object.fromEntries(spelled), faults)
  return {
    counts: readCounts(Object.fromEntries(own), faults),
    spelled: { names: spelled.map(([name]) => name), usage },
  }
}

/** Single words, such as `input` or `results`, may be counters of a host. */
const SINGLE_WORD = /^[a-z]+$/

const SPELLINGS: ReadonlySet<string> = new Set(
  [...SHAPES.flatMap(({ places }) => places), ...PART_PLACES].map((place) => place.split('/', 1)[0] ?? place),
)

/** True for a name of a provider that is not ours. */
function isSpelling(name: string): boolean {
  return !KNOWN_COUNTS.has(name) && !SINGLE_WORD.test(name) && SPELLINGS.has(camelCase(name))
}

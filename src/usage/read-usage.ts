import { membersOf } from '../model/json.ts'
import type { ReadFault } from '../model/read-fault.ts'
import { isEmpty } from '../model/totals.ts'
import { withCompactions } from './compactions.ts'
import { USAGE_COUNTS, type UsageCount } from './counts.ts'
import { type Member, membersIn, pointerOf, type Usage, type UsageMembers } from './members.ts'
import { usageParts } from './parts.ts'
import type { ShapeCounts, ShapeReader } from './shape.ts'
import { SHAPES } from './shapes.ts'
import { type Reading, readingOf } from './spelling.ts'
import { usageTier } from './tier.ts'
import { unreadMembers } from './unread.ts'

/** Why the counts of a usage object may be wrong. A run with such counts has no cost. */
export interface UsageDoubt {
  /**
   * `usage_conflict`: two members give different positive counts of one quantity, or a total is not the sum of its parts.
   * `usage_unread`: a count that no reader knows.
   */
  readonly code: 'usage_conflict' | 'usage_unread'
  /** JSON pointer to the member, from the usage object. */
  readonly pointer: string
}

/** Inclusive counts of a usage object (input includes the cache, output includes reasoning), and its service tier. */
export interface ReadUsage {
  readonly counts: Partial<Record<UsageCount, number>>
  readonly serviceTier?: string
  /** At most 8. */
  readonly doubts: readonly UsageDoubt[]
}

const NO_DOUBTS: readonly UsageDoubt[] = Object.freeze([])
const MAX_DOUBTS = 8

export const UNKNOWN_USAGE: ReadUsage = Object.freeze({ counts: {}, doubts: NO_DOUBTS })

/**
 * Reads a provider's usage object. Absent and `null` counts stay unknown. `undefined`: nothing is understood of what is in it, and
 * nothing seems to count tokens. Does not guess: only a total may decide whether output includes reasoning, and what may be wrong is in
 * `doubts`.
 *
 * @param faults Receives invalid counts, and sums above 2^53 - 1.
 */
export function readUsage(usage: unknown, faults: ReadFault[]): ReadUsage | undefined {
  const given = membersOf(usage)
  if (!given) return undefined
  const members = membersIn(withCompactions(given))
  const shapes = shapesOf(members)
  if (shapes.length === 0 && membersOf(given.x_groq)) return readGroq(given, faults)
  const { reading, counts: found } = bestOf(shapes, members)
  const parts = usageParts(reading, given.raw)
  const counts: Partial<Record<UsageCount, number>> = {}
  for (const name of USAGE_COUNTS) {
    const count = found[name] ?? parts[name]
    if (count === undefined) continue
    if (count <= Number.MAX_SAFE_INTEGER) counts[name] = count
    else reading.faults.push({ code: 'out_of_range', detail: `adds up to more than 2^53 - 1 as ${name}` })
  }
  faults.push(...reading.faults)
  const doubts = doubtsOf(reading, found, shapes)
  if (isEmpty(counts) && doubts.length === 0 && reading.faults.length === 0 && members.at.size > 0) return undefined
  const serviceTier = usageTier(given)
  return serviceTier === undefined ? { counts, doubts } : { counts, serviceTier, doubts }
}

const GROQ = ['x_groq', 'usage'] as const

/** The last event of a stream of Groq holds its usage in a member of its own. */
function readGroq({ x_groq }: Usage, faults: ReadFault[]): ReadUsage | undefined {
  const found: ReadFault[] = []
  const read = readUsage(membersOf(x_groq)?.usage, found)
  for (const { path = [], ...fault } of found) faults.push({ ...fault, path: [...GROQ, ...path] })
  return (
    read && { ...read, doubts: read.doubts.map(({ code, pointer }) => ({ code, pointer: `/x_groq/usage${pointer}` })) }
  )
}

interface Shaped {
  readonly reading: Reading
  readonly counts: ShapeCounts
}

/** Reads by the first shape that finds input and output, one of them above 0; if none does, by one that finds the most. */
function bestOf(shapes: readonly ShapeReader[], members: UsageMembers): Shaped {
  let best: Shaped = { reading: readingOf(members), counts: {} }
  let bestRank = -1
  for (const shape of shapes) {
    const reading = readingOf(members)
    const counts = shape.read(reading)
    const rank = rankOf(counts, reading)
    if (rank > bestRank) [best, bestRank] = [{ reading, counts }, rank]
    if (rank === MOST) break
  }
  return best
}

const MOST = 4

function rankOf(counts: ShapeCounts, { faults }: Reading): number {
  const { inputTokens, outputTokens } = counts
  if (inputTokens !== undefined && outputTokens !== undefined) return inputTokens + outputTokens > 0 ? MOST : 3
  if (inputTokens !== undefined || outputTokens !== undefined) return 2
  return faults.length > 0 || Object.values(counts).some((count) => count !== undefined) ? 1 : 0
}

function doubtsOf(reading: Reading, counts: ShapeCounts, shapes: readonly ShapeReader[]): readonly UsageDoubt[] {
  const { members, conflicts } = reading
  const unread = unreadMembers(reading)
  if (conflicts.length === 0 && unread.length === 0) return NO_DOUBTS
  const repeated = repeatedMembers(members, counts, shapes)
  const doubts = [
    ...conflicts.map((member) => ({ code: 'usage_conflict', member }) as const),
    ...unread.filter((member) => !repeated.has(member)).map((member) => ({ code: 'usage_unread', member }) as const),
  ]
  return doubts.slice(0, MAX_DOUBTS).map(({ code, member }) => ({ code, pointer: pointerOf(member) }))
}

/** Members that repeat the counts under the names of another shape: gateways send both. */
function repeatedMembers(
  members: UsageMembers,
  counts: ShapeCounts,
  shapes: readonly ShapeReader[],
): ReadonlySet<Member> {
  const repeated = new Set<Member>()
  for (const shape of shapes) {
    const reading = readingOf(members)
    const repetition = shape.read(reading)
    // A zero states nothing, because gateways write it under names that they do not use; as the input of an output it does.
    const isUnused = (name: string, count: number): boolean =>
      count === 0 && (name !== 'inputTokens' || !repetition.outputTokens)
    const agrees = Object.entries(repetition).every(
      ([name, count]) => count === undefined || isUnused(name, count) || count === counts[name as UsageCount],
    )
    if (agrees && reading.conflicts.length === 0) for (const member of reading.seen) repeated.add(member)
  }
  return repeated
}

const NONE: readonly ShapeReader[] = []
const SHAPES_AT: ReadonlyMap<string, readonly ShapeReader[]> = shapesByPlace()

function shapesByPlace(): ReadonlyMap<string, readonly ShapeReader[]> {
  const byPlace = new Map<string, ShapeReader[]>()
  for (const shape of SHAPES)
    for (const place of shape.places) byPlace.set(place, [...(byPlace.get(place) ?? []), shape])
  return byPlace
}

/** The shapes that have a count at some place of the members, in their order. */
function shapesOf({ at }: UsageMembers): readonly ShapeReader[] {
  const found = new Set<ShapeReader>()
  for (const place of at.keys()) for (const shape of SHAPES_AT.get(place) ?? NONE) found.add(shape)
  return found.size === 0 ? NONE : SHAPES.filter((shape) => found.has(shape))
}

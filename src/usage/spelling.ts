import { keysOf } from '../model/json-pointer.ts'
import type { ReadFault } from '../model/read-fault.ts'
import { isWhole, readWholeCount } from './counts.ts'
import { camelCase, type Member, pointerOf, type UsageMembers } from './members.ts'

/**
 * Where a count stands in a usage object: the names on the way to it, as in `prompt_tokens_details/cached_tokens`. `*` is any item of a
 * list, `length` its length. Counts joined by `+` are added. Written in snake case; camel case is read too.
 */
export type Spelling = string

/** One reading of a usage object. */
export interface Reading {
  readonly members: UsageMembers
  readonly faults: ReadFault[]
  /** Members with a positive count that were read. */
  readonly seen: Set<Member>
  /** Members that state another positive count than a spelling read before. */
  readonly conflicts: Member[]
  /** The member that was read last. */
  last?: Member
}

export function readingOf(members: UsageMembers): Reading {
  return { members, faults: [], seen: new Set(), conflicts: [] }
}

/** Reads one count. `undefined`: absent, or invalid, which adds a fault. */
export type ReadCount = (reading: Reading) => number | undefined

/**
 * Reads the spellings of one quantity: the greatest count holds, because gateways write a 0 under names that they do not use. Two
 * different positive counts are a conflict.
 */
export function readerOf(spellings: readonly Spelling[]): ReadCount {
  const sums = spellings.map(termsOf)
  return (reading) => greatestOf(sums, reading, (terms) => sumOf(terms, (term) => readTerm(term, reading)))
}

/** The places whose counts a spelling adds, in camel case. */
export function termsOf(spelling: Spelling): readonly string[] {
  return camelCase(spelling).split('+')
}

function readTerm(term: string, reading: Reading): number | undefined {
  const members = reading.members.at.get(term)
  if (members === undefined) return undefined
  const read = (member: Member): number | undefined => readCount(member, reading)
  return members[0]?.isItem ? sumOf(members, read) : greatestOf(members, reading, read)
}

function greatestOf<T>(
  items: readonly T[],
  reading: Reading,
  read: (item: T) => number | undefined,
): number | undefined {
  let greatest: number | undefined
  for (const item of items) {
    const count = read(item)
    if (count === undefined) continue
    if (greatest && count && count !== greatest && reading.last) reading.conflicts.push(reading.last)
    greatest = Math.max(greatest ?? 0, count)
  }
  return greatest
}

/** The sum of those counts that are there. */
function sumOf<T>(items: readonly T[], read: (item: T) => number | undefined): number | undefined {
  let sum: number | undefined
  for (const item of items) {
    const count = read(item)
    if (count !== undefined) sum = (sum ?? 0) + count
  }
  return sum
}

function readCount(member: Member, reading: Reading): number | undefined {
  const { name, value } = member
  // Some providers report fractions of seconds, and bill whole ones.
  const count = typeof value === 'number' && /seconds$/i.test(name) ? Math.ceil(value) : value
  reading.last = member
  if (!isWhole(count, 0)) {
    readWholeCount(count, 0, reading.faults, keysOf(pointerOf(member)))
    return undefined
  }
  if (count > 0) reading.seen.add(member)
  return count + 0
}

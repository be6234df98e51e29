import type { JsonObject, JsonValue } from '../../../model/json.ts'
import type { RunState, StatusReport } from '../../../model/run.ts'
import { isEmpty } from '../../../model/sums.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { compareStatus } from './run-status.ts'

/**
 * Joins two records key by key: `join` gives the one of two values that stays. The first itself, when the second has nothing
 * that it lacks; the second itself, when the first is empty.
 */
export function joinRecords<T>(
  a: Readonly<Record<string, T>>,
  b: Readonly<Record<string, T>>,
  join: (mine: T, theirs: T, key: string) => T,
): Readonly<Record<string, T>> {
  if (isEmpty(a)) return isEmpty(b) ? a : b
  let joined: Record<string, T> | undefined
  for (const key in b) {
    const theirs = b[key] as T
    const mine = Object.hasOwn(a, key) ? (a[key] as T) : undefined
    const kept = mine === undefined ? theirs : join(mine, theirs, key)
    if (kept === mine) continue
    joined ??= { ...a }
    joined[key] = kept
  }
  return joined ?? a
}

/**
 * What a run holds at most of counts, of metadata and of tags, however many posts bring more: no caller can make a record grow
 * without end. The first in their order are kept, which does not depend on the order of posts.
 */
const MAX_HELD = 128

/** The record itself, or as much of it as a run holds. */
export function cutToHold<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const keys = Object.keys(record)
  if (keys.length <= MAX_HELD) return record
  const kept = keys.sort().slice(0, MAX_HELD)
  return Object.fromEntries(kept.map((key) => [key, record[key] as T]))
}

/** What came of joining with {@link joinRecords}, as much of it as a run holds; `a`, when that leaves nothing new. */
export function holdJoined<T>(
  joined: Readonly<Record<string, T>>,
  a: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  if (joined === a) return a
  const kept = cutToHold(joined)
  if (kept === joined) return joined
  for (const key in kept) if (!Object.hasOwn(a, key) || a[key] !== kept[key]) return kept
  return a
}

/**
 * The union of two sorted lists without repeats, as much of it as a run holds. The first list itself, when the second has
 * nothing that it lacks.
 */
export function joinSorted(a: readonly string[], b: readonly string[]): readonly string[] {
  if (b.every((tag) => a.includes(tag))) return a
  const joined = sortedSet([...a, ...b])
  return joined.length === a.length && joined.every((tag, index) => tag === a[index]) ? a : joined
}

/** Values without repeats, in their order, as many as a run holds. */
export function sortedSet(values: readonly string[]): readonly string[] {
  return values.length < 2 ? [...values] : [...new Set(values)].sort().slice(0, MAX_HELD)
}

/** Where a metadata key stands among the paths of {@link RunState.seqs}. */
export const METADATA = 'metadata.'

/** The `seq` of the post that told what stands at a path. */
export function seqOf({ seqs, seq }: RunState, path: string): number {
  return seqs !== undefined && Object.hasOwn(seqs, path) ? (seqs[path] ?? seq) : seq
}

/** The status that a field of `final` was told with. */
export function reportedWith(state: RunState, field: string): StatusReport {
  const { finalWith, status = 'running' } = state
  const other = finalWith !== undefined && Object.hasOwn(finalWith, field) ? finalWith[field] : undefined
  return other ?? { status, seq: seqOf(state, 'status') }
}

/**
 * The later of two writes, by `seq`; of two at once `null`, which deletes, before the one with the greater canonical JSON. The
 * first, when they say the same.
 */
export function laterWrite<T extends JsonValue>(a: T, aSeq: number, b: T, bSeq: number): T {
  if (aSeq !== bSeq) return aSeq > bSeq || isSame(a, b) ? a : b
  return isGreater(b, a) ? b : a
}

/** Which of two statuses is the run's: above 0 the first, below 0 the second, 0: they are the same. */
export function compareReported(a: StatusReport, b: StatusReport): number {
  return compareStatus(a.status, a.seq, b.status, b.seq)
}

/** Whether two values are the same JSON, whatever the order of their keys. */
export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  const [mine, theirs] = [a as JsonObject, b as JsonObject]
  return keys.every((key) => Object.hasOwn(theirs, key) && isSame(mine[key], theirs[key]))
}

/** Whether the first of two values told at once wins. */
export function isGreater(a: JsonValue, b: JsonValue): boolean {
  if (b === null || isSame(a, b)) return false
  return a === null || canonicalJson(a) > canonicalJson(b)
}

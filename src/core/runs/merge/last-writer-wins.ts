import type { JsonObject, JsonValue } from '../../../model/json.ts'
import type { RunState, StatusReport } from '../../../model/run.ts'
import { isEmpty } from '../../../model/totals.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { compareStatus } from './run-status.ts'

/**
 * Joins two records key by key; `join` picks one of two values. Gives `a` itself when `b` adds nothing, and `b` itself when
 * `a` is empty.
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
 * How many counts, metadata keys and tags a run keeps, so that no caller can grow a record without end. The first in sort
 * order stay, which does not depend on the order of posts.
 */
const MAX_ENTRIES = 128

/** Cuts a record to the limit of a run; gives the record itself when it fits. */
export function cutToLimit<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const keys = Object.keys(record)
  if (keys.length <= MAX_ENTRIES) return record
  const kept = keys.sort().slice(0, MAX_ENTRIES)
  return Object.fromEntries(kept.map((key) => [key, record[key] as T]))
}

/** Cuts the result of {@link joinRecords} to the limit of a run; gives `a` itself when nothing new stays. */
export function cutJoined<T>(
  joined: Readonly<Record<string, T>>,
  a: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  if (joined === a) return a
  const kept = cutToLimit(joined)
  if (kept === joined) return joined
  for (const key in kept) if (!Object.hasOwn(a, key) || a[key] !== kept[key]) return kept
  return a
}

/**
 * Unites two sorted lists without duplicates, up to the limit of a run. Gives `a` itself when `b` adds nothing.
 */
export function joinSorted(a: readonly string[], b: readonly string[]): readonly string[] {
  if (b.every((tag) => a.includes(tag))) return a
  const joined = sortedSet([...a, ...b])
  return joined.length === a.length && joined.every((tag, index) => tag === a[index]) ? a : joined
}

/** Sorts values and removes duplicates, up to the limit of a run. */
export function sortedSet(values: readonly string[]): readonly string[] {
  return values.length < 2 ? [...values] : [...new Set(values)].sort().slice(0, MAX_ENTRIES)
}

/** Prefix of metadata keys among the paths of {@link RunState.seqs}. */
export const METADATA = 'metadata.'

/** The `seq` of the post that wrote the value at a path. */
export function seqOf({ seqs, seq }: RunState, path: string): number {
  return seqs !== undefined && Object.hasOwn(seqs, path) ? (seqs[path] ?? seq) : seq
}

/** The status that a field of `final` came with. */
export function reportedWith(state: RunState, field: string): StatusReport {
  const { finalWith, status = 'running' } = state
  const other = finalWith !== undefined && Object.hasOwn(finalWith, field) ? finalWith[field] : undefined
  return other ?? { status, seq: seqOf(state, 'status') }
}

/**
 * Picks the later of two writes, by `seq`. At the same `seq`, `null` (a deletion) wins, then the greater canonical JSON. Gives
 * `a` when the values are the same.
 */
export function laterWrite<T extends JsonValue>(a: T, aSeq: number, b: T, bSeq: number): T {
  if (aSeq !== bSeq) return aSeq > bSeq || isSame(a, b) ? a : b
  return isGreater(b, a) ? b : a
}

/** Compares two statuses: above 0 the first wins, below 0 the second, 0: they are the same. */
export function compareReported(a: StatusReport, b: StatusReport): number {
  return compareStatus(a.status, a.seq, b.status, b.seq)
}

/** Whether two values are the same JSON; key order does not matter. */
export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  const [mine, theirs] = [a as JsonObject, b as JsonObject]
  return keys.every((key) => Object.hasOwn(theirs, key) && isSame(mine[key], theirs[key]))
}

/** Whether the first of two values with the same `seq` wins. */
export function isGreater(a: JsonValue, b: JsonValue): boolean {
  if (b === null || isSame(a, b)) return false
  return a === null || canonicalJson(a) > canonicalJson(b)
}

import type { JsonObject, JsonValue } from '../../../model/json.ts'
import type { RunReport, StatusReport } from '../../../model/run.ts'
import { compareStatus } from '../../../model/run-status.ts'
import { isEmpty } from '../../../model/totals.ts'
import { canonicalJson } from '../../json/canonical-json.ts'

/** Joins two records key by key. Returns `a` itself when `b` adds nothing, and `b` itself when `a` is empty. */
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

/** Maximum counts, metadata keys and tags of a run. The first in sort order stay, whatever the order of posts. */
const MAX_ENTRIES = 128

/** Returns the record itself when it fits. */
export function cutToLimit<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const keys = Object.keys(record)
  if (keys.length <= MAX_ENTRIES) return record
  const kept = keys.sort().slice(0, MAX_ENTRIES)
  return Object.fromEntries(kept.map((key) => [key, record[key] as T]))
}

/** Cuts the result of {@link joinRecords} to the limit of a run; returns `a` itself when no new entry stays. */
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

/** Unites two sorted lists without duplicates, up to a limit. Returns `a` itself when `b` adds nothing. */
export function joinSorted(a: readonly string[], b: readonly string[], max: number = MAX_ENTRIES): readonly string[] {
  if (b.every((tag) => a.includes(tag))) return a
  const joined = sortedSet([...a, ...b]).slice(0, max)
  return joined.length === a.length && joined.every((tag, index) => tag === a[index]) ? a : joined
}

/** Sorts values and removes duplicates, up to the limit of a run. */
export function sortedSet(values: readonly string[]): readonly string[] {
  return values.length < 2 ? [...values] : [...new Set(values)].sort().slice(0, MAX_ENTRIES)
}

/** Prefix of metadata keys among the paths of {@link RunReport.seqs}. */
export const METADATA = 'metadata.'

export function seqOf({ seqs, seq }: RunReport, path: string): number {
  return seqs !== undefined && Object.hasOwn(seqs, path) ? (seqs[path] ?? seq) : seq
}

export function reportedWith(report: RunReport, field: string): StatusReport {
  const { finalWith, status = 'running' } = report
  const other = finalWith !== undefined && Object.hasOwn(finalWith, field) ? finalWith[field] : undefined
  return other ?? { status, seq: seqOf(report, 'status') }
}

/** Picks the later of two writes, by `seq`; at the same `seq`, `null` (a deletion), then the greater canonical JSON. */
export function laterWrite<T extends JsonValue>(a: T, aSeq: number, b: T, bSeq: number): T {
  if (aSeq !== bSeq) return aSeq > bSeq || isSame(a, b) ? a : b
  return isGreater(b, a) ? b : a
}

export function compareReported(a: StatusReport, b: StatusReport): number {
  return compareStatus(a.status, a.seq, b.status, b.seq)
}

/** True for equal JSON; key order does not matter. */
export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  const [mine, theirs] = [a as JsonObject, b as JsonObject]
  return keys.every((key) => Object.hasOwn(theirs, key) && isSame(mine[key], theirs[key]))
}

/** True if the first of two values with the same `seq` wins. */
export function isGreater(a: JsonValue, b: JsonValue): boolean {
  if (b === null || isSame(a, b)) return false
  return a === null || canonicalJson(a) > canonicalJson(b)
}

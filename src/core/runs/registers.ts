import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Stamped, WithStatus } from '../../model/run.ts'
import { canonicalJson } from '../canonical-json.ts'
import { compareStatus } from './run-status.ts'

/**
 * The later of two writes; of two at once `null`, which deletes, before the one with the greater canonical JSON. The first,
 * when they say the same.
 */
export function laterWrite<T extends JsonValue>(a: Stamped<T>, b: Stamped<T>): Stamped<T> {
  if (a.seq !== b.seq) return a.seq > b.seq ? a : b
  return isGreater(b.value, a.value) ? b : a
}

/** The later of two statuses. The first, when they are the same. */
export function laterStatus<T extends WithStatus['status']>(a: Stamped<T>, b: Stamped<T>): Stamped<T> {
  return compareStatus(b.value, b.seq, a.value, a.seq) > 0 ? b : a
}

/** The one of two values that came with the later status; of two with one status the one with the greater canonical JSON. */
export function laterFinal(a: WithStatus, b: WithStatus): WithStatus {
  const order = compareStatus(b.status, b.seq, a.status, a.seq)
  if (order !== 0) return order > 0 ? b : a
  return isGreater(b.value, a.value) ? b : a
}

/**
 * Joins two records key by key. The first itself, when the second has nothing that it lacks; the second itself, when the
 * first is empty. Of more keys than `max`, those that come first in their order are kept, whatever order they came in.
 */
export function joinRecords<T>(
  a: Readonly<Record<string, T>>,
  b: Readonly<Record<string, T>>,
  join: (mine: T, theirs: T) => T,
  max: number = Number.POSITIVE_INFINITY,
): Readonly<Record<string, T>> {
  let joined: Record<string, T> | undefined
  if (isEmpty(a)) return isEmpty(b) ? a : b
  for (const key in b) {
    const theirs = b[key] as T
    const mine = Object.hasOwn(a, key) ? (a[key] as T) : undefined
    const kept = mine === undefined ? theirs : join(mine, theirs)
    if (kept === mine) continue
    joined ??= { ...a }
    joined[key] = kept
  }
  return joined && max < Number.POSITIVE_INFINITY ? firstKeys(a, joined, max) : (joined ?? a)
}

/** `joined`, cut down to its first `max` keys; `a`, when that leaves nothing new. */
function firstKeys<T>(
  a: Readonly<Record<string, T>>,
  joined: Readonly<Record<string, T>>,
  max: number,
): Readonly<Record<string, T>> {
  const keys = Object.keys(joined)
  if (keys.length <= max) return joined
  const kept = keys.sort().slice(0, max)
  const isNew = kept.some((key) => a[key] !== joined[key])
  return isNew || Object.keys(a).length > max ? Object.fromEntries(kept.map((key) => [key, joined[key] as T])) : a
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

/**
 * The union of two sorted lists without repeats, or the first `max` of it. The first list itself, when the second has nothing
 * that it lacks.
 */
export function joinSorted(a: readonly string[], b: readonly string[], max: number): readonly string[] {
  if (b.every((tag) => a.includes(tag))) return a
  const joined = sortedSet([...a, ...b]).slice(0, max)
  return joined.length === a.length && joined.every((tag, index) => tag === a[index]) ? a : joined
}

export function sortedSet(values: readonly string[]): readonly string[] {
  return values.length < 2 ? [...values] : [...new Set(values)].sort()
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

function isGreater(a: JsonValue, b: JsonValue): boolean {
  if (b === null || isSame(a, b)) return false
  return a === null || canonicalJson(a) > canonicalJson(b)
}

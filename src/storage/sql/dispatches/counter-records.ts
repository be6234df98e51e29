import type { Counter } from '../../rules/delivery-transitions.ts'
import { firstVersion } from '../connection/changes.ts'
import type { CounterRecord } from '../schema/records.ts'
import { storableText } from './delivery-records.ts'

/** A counter as it was read, and what has become of it. */
export interface KnownCounter {
  /** As it is stored. */
  readonly name: string
  readonly counter: Counter
  /** 0: it is new. */
  readonly version: number
  readonly isChanged: boolean
}

/** What a limit is counted under; other counters have other names. */
export function limitName(key: string): string {
  return `${LIMIT}${storableText(key)}`
}

const LIMIT = 'limit '

/** A counter as it is kept. */
export function knownCounter(record: CounterRecord): KnownCounter {
  const { tenant, name, times, max, window_ms: windowMs, version } = record
  const key = name.startsWith(LIMIT) ? name.slice(LIMIT.length) : name
  return { name, counter: { tenant, name: key, times: JSON.parse(times), max, windowMs }, version, isChanged: false }
}

export function counterKey(tenant: string, name: string): string {
  return JSON.stringify([tenant, name])
}

export function counterRecord({ name, counter, version }: KnownCounter): CounterRecord {
  const { tenant, times, max, windowMs } = counter
  const written = { tenant, name, times: JSON.stringify(times), max, window_ms: Math.ceil(windowMs) }
  return { ...written, expires_at: Math.ceil(endOf(counter)), version: version || firstVersion() }
}

/** When it matters no longer. */
export function endOf({ times, windowMs }: Pick<Counter, 'times' | 'windowMs'>): number {
  return (times.at(-1) ?? 0) + windowMs
}

import { isSallyportError, SallyportError } from '../../errors.ts'
import type { Attempt } from '../../model/attempt.ts'
import type { Content, DispatchAnswer } from '../../model/dispatch.ts'
import type { JsonObject } from '../../model/json.ts'
import type { DerivedRunData, RunFailure, RunState } from '../../model/run.ts'
import type { Spend, Totals } from '../../model/totals.ts'
import type { PlanSource } from '../../ports/plan-source.ts'
import type { StoredDelivery, StoredEntry } from './dispatches/stored-deliveries.ts'

/** Values of the columns of JSON, by kind and column. A stored one never changes: it is replaced. */
export interface JsonColumns {
  readonly 'states.body': readonly StoredEntry[]
  readonly 'contents.body': Content
  readonly 'digests.body': StoredDelivery
  readonly 'members.event_data': JsonObject
  readonly 'jobs.begun': readonly Attempt[]
  readonly 'plan_sources.source': PlanSource
  readonly 'idempotency_keys.answer': DispatchAnswer
  readonly 'counters.times': readonly number[]
  readonly 'sessions.totals': Totals
  readonly 'sessions.failures': readonly RunFailure[]
  readonly 'runs.state': RunState
  readonly 'runs.derived': DerivedRunData
  readonly 'run_sums.totals': Totals
  readonly 'spends.spend': Spend
  readonly 'plugin_records.body': object
}

/** Name of a column of JSON, with its kind. */
export type JsonColumn = keyof JsonColumns

/** A stored text that is not the JSON of its column: it was damaged. */
export class Unreadable {
  readonly column: JsonColumn
  readonly text: string

  constructor(column: JsonColumn, text: string) {
    this.column = column
    this.text = text
  }
}

/** A value of a column of JSON as it was read. */
export type Stored<T> = T | Unreadable

/** The value; `undefined` if it cannot be read. */
export function decoded<T>(value: Stored<T>): T | undefined {
  return value instanceof Unreadable ? undefined : value
}

/** The value. @throws {SallyportError} `record_unreadable`. It does not quote the text. */
export function readable<T>(value: Stored<T>): T {
  if (value instanceof Unreadable) throw unreadable(value.column)
  return value
}

export function unreadable(column: JsonColumn): SallyportError {
  const detail = `A stored record cannot be read: its ${column}. npx sallyport doctor shows it.`
  return new SallyportError('record_unreadable', detail)
}

export function isUnreadable(cause: unknown): boolean {
  return isSallyportError(cause) && cause.code === 'record_unreadable'
}

/** The result, or `undefined` if a record cannot be read. */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (cause) {
    if (isUnreadable(cause)) return undefined
    throw cause
  }
}

/** Whether a damaged text has a string that begins with one of the names. */
export function mayName({ text }: Unreadable, names: readonly string[]): boolean {
  return names.some((name) => text.includes(JSON.stringify(name).slice(0, -1)))
}

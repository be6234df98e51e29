import { isUnreadable } from './json-values.ts'
import type { Kind, RecordOf } from './kinds.ts'
import type { Change, Records } from './records.ts'

/** Optimistic concurrency: a record has another version than the one that was read. Nothing is written, and the work is retried. */
export class Conflict extends Error {}

/** A high limit: every conflict means that another writer succeeded. */
const TRIES = 100
const LONGEST_PAUSE_MS = 20

export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (cause) {
      if (!(cause instanceof Conflict) || tries >= TRIES) throw cause
      await pause(tries)
    }
  }
}

/** Random pause that grows with each try, so that conflicting writers separate. */
export async function pause(tries: number): Promise<void> {
  const ms = Math.random() * Math.min(tries, LONGEST_PAUSE_MS)
  await new Promise<void>((resolve) => void setTimeout(resolve, ms))
}

/** Random, so that a record that is removed and inserted again never repeats a version. */
export function firstVersion(): number {
  return Math.floor(Math.random() * 2 ** 50) + 1
}

/** Changes of one commit. */
export class Changes {
  /** Few: a search is faster than a map. */
  readonly #changes: { readonly do: Change['do']; readonly kind: Kind; readonly records: object[] }[] = []

  insert<Name extends Kind>(kind: Name, record: RecordOf<Name>): void {
    this.#add('insert', kind, record)
  }

  /** @param record With the version that was read. */
  update<Name extends Kind>(kind: Name, record: RecordOf<Name>): void {
    this.#add('update', kind, record)
  }

  /** @param record Its key and the version that was read. */
  remove<Name extends Kind>(kind: Name, record: Partial<RecordOf<Name>>): void {
    this.#add('remove', kind, record)
  }

  /** @param record Its key and the version that was read. */
  compare<Name extends Kind>(kind: Name, record: Partial<RecordOf<Name>>): void {
    this.#add('compare', kind, record)
  }

  /** The changes of records of one kind. */
  of<Name extends Kind>(kind: Name): readonly { readonly do: Change['do']; readonly record: RecordOf<Name> }[] {
    const own = this.#changes.filter((change) => change.kind === kind)
    return own.flatMap((change) =>
      change.records.map((record) => ({ do: change.do, record: record as RecordOf<Name> })),
    )
  }

  /** @throws {Conflict} A record has another version. */
  async commit(records: Records): Promise<void> {
    if (this.#changes.length === 0) return
    if (!(await records.commit(this.#changes as readonly Change[]))) throw new Conflict('what was read has changed')
  }

  #add(what: Change['do'], kind: Kind, record: object): void {
    for (const change of this.#changes)
      if (change.kind === kind && change.do === what) {
        change.records.push(record)
        return
      }
    this.#changes.push({ do: what, kind, records: [record] })
  }
}

/** Whether one call of a batch caused an error: the others are tried again without it. */
export function isOnesFault(records: Records): (cause: unknown) => boolean {
  return (cause) => cause instanceof Conflict || isUnreadable(cause) || records.isRefusal?.(cause) === true
}

/** Records that are found by one value of their key, by that value. */
export function byValue<Column extends string, Row extends Readonly<Record<Column, string>>>(
  column: Column,
  rows: readonly Row[],
): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row[column], row]))
}

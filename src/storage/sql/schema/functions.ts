import type { ChangeKind } from '../connection/changes.ts'
import type { Dialect } from '../connection/dialects.ts'
import { changeText } from '../connection/statements.ts'
import { claimFunction } from '../dispatches/claim-function.ts'
import { SNAPSHOT_COLUMNS, snapshotText } from '../runs/merge-snapshot-query.ts'
import type { NameTable } from './name-table.ts'
import type { TableName } from './records.ts'
import { TABLES } from './tables.ts'

/**
 * Functions of a PostgreSQL database: what is done most often takes one round trip, and its plan is kept with the connection,
 * whatever driver there is and whatever pooler is in between.
 */
export function functions(dialect: Dialect, nameOf: NameTable, prefix: string): readonly string[] {
  return [
    ...Object.entries(KINDS).map(([kind, tables]) =>
      changeFunction(kind as ChangeKind, tables, dialect, nameOf, prefix),
    ),
    claimFunction(functionName('claim', dialect, prefix), ALONG_INDEXES, dialect, nameOf),
    snapshotsFunction(dialect, nameOf, prefix),
    scanFunction(dialect, prefix),
  ]
}

/** What a function does. */
export type FunctionName = ChangeKind | 'claim' | 'snapshots' | 'scan'

/**
 * A function that has to become another one gets another name: hosts of two releases share a database while one replaces the
 * other.
 */
const VERSION = 1

/** The name of a function, as a statement has it. */
export function functionName(name: FunctionName, dialect: Dialect, prefix: string): string {
  return dialect.quote(`${prefix}${name}_${VERSION}`)
}

/**
 * Few rows are looked for in great tables, always by an index: whatever the planner believes of tables that were empty when it
 * was asked, or of lists whose length it cannot know.
 */
const ALONG_INDEXES = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort']
  .map((way) => `set enable_${way} = off`)
  .concat('set jit = off', 'set plan_cache_mode = force_generic_plan')
  .join(' ')

const ALL_TABLES = Object.keys(TABLES) as readonly TableName[]

/** Of which tables rows are changed in which way. */
const KINDS: Readonly<Record<ChangeKind, readonly TableName[]>> = {
  insert: ALL_TABLES,
  update: ALL_TABLES,
  remove: ALL_TABLES,
  count: ['dispatches'],
}

/**
 * Changes rows of a table. Where one that is to be updated or removed is gone, or of another version, it fails as a serialization
 * failure: what was read has changed.
 */
function changeFunction(
  kind: ChangeKind,
  tables: readonly TableName[],
  dialect: Dialect,
  nameOf: NameTable,
  prefix: string,
): string {
  const cases = tables.map((table) => {
    const change = { kind, table, rows: [] }
    return `when '${table}' then ${changeText(change, dialect, nameOf, 'given')};`
  })
  const settings = kind === 'insert' ? '' : ALONG_INDEXES
  return `create or replace function ${functionName(kind, dialect, prefix)}(of_table text, given json, amount bigint) returns void language plpgsql ${settings} as $body$
  #variable_conflict use_column
  declare changed bigint;
  begin
    case of_table
      ${cases.join('\n      ')}
    end case;
    get diagnostics changed = row_count;
    if changed <> amount then raise exception 'not as it was read' using errcode = '40001'; end if;
  end $body$`
}

/** Reads what merges see. */
function snapshotsFunction(dialect: Dialect, nameOf: NameTable, prefix: string): string {
  const columns = SNAPSHOT_COLUMNS.map((column, at) => `${column} ${at < 6 ? 'text' : 'bigint'}`)
  return `create or replace function ${functionName('snapshots', dialect, prefix)}(keys json) returns table (${columns.join(', ')}) language plpgsql stable ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  begin
    return query ${snapshotText('keys', dialect, nameOf)};
  end $body$`
}

/** Runs a statement along indexes, whatever the statistics say. Gives its rows as JSON. It is volatile, since a statement may lock. */
function scanFunction(dialect: Dialect, prefix: string): string {
  return `create or replace function ${functionName('scan', dialect, prefix)}(statement text, given json) returns table (found json) language plpgsql ${ALONG_INDEXES} as $body$
  begin
    return query execute 'select to_json(q) from (' || statement || ') q' using given;
  end $body$`
}

/** A statement for that function: it takes its parameters from one JSON array. */
export function scanStatement(text: string, parameters: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, number: string) => {
    const at = Number(number) - 1
    return `($1->>${at})${typeof parameters[at] === 'number' ? '::bigint' : ''}`
  })
}

import { isNumber } from '../../engine/columns.ts'
import { KIND_NAMES, type Kind } from '../../engine/kinds.ts'
import type { Change } from '../../engine/records.ts'
import { type FunctionName, functionName } from '../connection/database-functions.ts'
import type { Dialect } from '../dialects/dialects.ts'
import type { NameTable } from '../dialects/statements.ts'
import { CLAIM_PARAMETERS, claimBody } from '../records/claim-function.ts'
import { CLAIMED } from '../records/claim-text.ts'
import { changeText } from '../records/commit.ts'
import { SNAPSHOT_COLUMNS, snapshotText } from '../records/merge-snapshot.ts'
import { findText, RECORD_COLUMNS } from '../records/read.ts'
import { type ColumnType, TABLES } from '../tables/tables.ts'

/** Otherwise an insert of an unknown number of rows is planned each time. */
const KEEPS_PLAN = 'set plan_cache_mode = force_generic_plan'

/** Restricts the planner to indexes: each statement finds few rows in large tables, whatever the statistics are. */
const ALONG_INDEXES = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort']
  .map((way) => `set enable_${way} = off`)
  .concat('set jit = off', KEEPS_PLAN)
  .join(' ')

const CHANGES: readonly Change['do'][] = ['insert', 'update', 'remove', 'compare']

/** The most frequent calls take one round trip, and each connection keeps their plans, with any driver and pooler. */
export function functions(dialect: Dialect, nameOf: NameTable, prefix: string): readonly string[] {
  const nameFor = (name: FunctionName): string => functionName(name, dialect, prefix)
  return [
    ...CHANGES.map((what) => changeFunction(nameFor(what), what, dialect, nameOf)),
    claimFunction(nameFor('claim'), dialect, nameOf),
    snapshotsFunction(nameFor('snapshots'), dialect, nameOf),
    recordsFunction(nameFor('records'), dialect, nameOf),
    scanFunction(nameFor('scan')),
  ]
}

/** Fails with the code of a serialization failure if a row is gone or has another version. */
function changeFunction(name: string, what: Change['do'], dialect: Dialect, nameOf: NameTable): string {
  const cases = KIND_NAMES.map((kind) => {
    const change = { do: what, kind, rows: [] }
    return `when '${kind}' then ${changeText(change, dialect, nameOf, (columns) => arrayRows(columns, dialect))};`
  })
  const settings = what === 'insert' ? KEEPS_PLAN : ALONG_INDEXES
  return `create or replace function ${name}(of_table text, list text[], amount bigint) returns void language plpgsql ${settings} as $body$
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

/** Rows from an array with all values, row by row. */
function arrayRows(columns: Readonly<Record<string, ColumnType>>, { quote }: Dialect): string {
  const all = Object.entries(columns)
  const values = all.map(([name, column], at) => {
    const value = `list[i * ${all.length} + ${at + 1}]`
    return `${isNumber(column) ? `${value}::bigint` : value} as ${quote(name)}`
  })
  return `(select ${values.join(', ')} from generate_series(0, amount::int - 1) as i) as x`
}

function snapshotsFunction(name: string, dialect: Dialect, nameOf: NameTable): string {
  const columns = SNAPSHOT_COLUMNS.map((column, at) => `${column} ${at < 6 ? 'text' : 'bigint'}`)
  return `create or replace function ${name}(keys json) returns table (${columns.join(', ')}) language plpgsql stable ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  begin
    return query ${snapshotText('keys', dialect, nameOf)};
  end $body$`
}

function recordsFunction(name: string, dialect: Dialect, nameOf: NameTable): string {
  const cases = RECORD_COLUMNS.map(
    (column) => `when '${column}' then return query ${findText(column, 'of_kind', 'given', dialect, nameOf)};`,
  )
  return `create or replace function ${name}(of_kind text, of_column text, given json) returns table (${outputs('plugin_records', '', dialect).join(', ')}) language plpgsql stable ${ALONG_INDEXES} as $body$
  begin
    case of_column
      ${cases.join('\n      ')}
    end case;
  end $body$`
}

/** Runs a statement by index and returns its rows as JSON. Volatile, because the statement may lock rows. */
function scanFunction(name: string): string {
  return `create or replace function ${name}(statement text, given json) returns table (found json) language plpgsql ${ALONG_INDEXES} as $body$
  begin
    return query execute 'select to_json(q) from (' || statement || ') q' using given;
  end $body$`
}

function claimFunction(name: string, dialect: Dialect, nameOf: NameTable): string {
  const columns = ['summary text', ...CLAIMED.flatMap(({ table, prefix }) => outputs(table, prefix, dialect))]
  return `create or replace function ${name}(${CLAIM_PARAMETERS}) returns table (${columns.join(', ')}) language plpgsql ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  ${claimBody(dialect, nameOf)} $body$`
}

function outputs(table: Kind, prefix: string, dialect: Dialect): readonly string[] {
  return Object.entries<ColumnType>(TABLES[table].columns).map(([column, { kind, length = 0 }]) => {
    const [type] = dialect.types[kind](length).split(' ')
    return `${dialect.quote(prefix + column)} ${type}`
  })
}

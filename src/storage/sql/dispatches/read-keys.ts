import { compoundKey } from '../../rules/compound-key.ts'
import type { Database } from '../connection/database.ts'
import { groupCommit } from '../connection/group-commit.ts'
import { lookUp, tableAlong } from '../connection/look-ups.ts'
import { columnsOf, readRecord } from '../connection/read-records.ts'
import type { KeyRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import type { TenantName } from './load-dispatches.ts'

/**
 * Reads what is remembered of idempotency keys; those of the same moment together. One alone is given as two parameters, which costs
 * a database less than a list.
 *
 * @param isAlone One call at a time: within a transaction of the host's.
 */
export function keyReader(db: Database, isAlone: boolean): (key: TenantName) => Promise<KeyRecord | undefined> {
  const { dialect, nameOf } = db
  const table = { table: 'idempotency_keys', alias: 'k' } as const
  const select = `select ${columnsOf('idempotency_keys', 'k', dialect)} from`
  const [first, second] = [dialect.parameter(1), dialect.parameter(2)]
  const alone = `${select} ${tableAlong(table, dialect, nameOf)} where k.tenant = ${first} and k.name = ${second}`
  const { tenant, name } = TABLES.idempotency_keys.columns
  const rows = dialect.rows(first, { tenant, name }, 'x')
  const found = lookUp({ ...table, on: 'k.tenant = x.tenant and k.name = x.name' }, dialect, nameOf)

  async function read(text: string, parameters: readonly unknown[]): Promise<readonly KeyRecord[]> {
    const records = await db.query<Readonly<Record<string, unknown>>>(text, parameters)
    return records.map((row) => readRecord('idempotency_keys', row))
  }

  async function readOne({ tenant, name }: TenantName): Promise<KeyRecord | undefined> {
    const [record] = await read(alone, [tenant, name])
    return record
  }

  async function run(keys: readonly TenantName[]): Promise<readonly (KeyRecord | undefined)[]> {
    const [only, ...others] = keys
    if (only && others.length === 0) return [await readOne(only)]
    const list = JSON.stringify(keys.map(({ tenant, name }) => ({ tenant, name })))
    const records = await read(`${select} ${rows} ${found}`, [list])
    const byKey = new Map(records.map((record) => [compoundKey(record.tenant, record.name), record]))
    return keys.map((key) => byKey.get(compoundKey(key.tenant, key.name)))
  }

  if (isAlone) return readOne
  return groupCommit<TenantName, KeyRecord | undefined>({ run, isOnesFault: db.isOnesFault, timeoutMs: db.timeoutMs })
}

import { addSpend, noSpend, type Spend } from '../../../model/totals.ts'
import { boundedMap } from '../../engine/bounded-map.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { type Changes, Conflict, firstVersion } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, lookUp } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import { TABLES } from '../schema/tables.ts'
import { readSpend } from './run-records.ts'
import type { Spent } from './run-unit-of-work.ts'

/** Maximum rows of a user's spend per day. Each writer adds to one of them, which makes conflicts rare; the spend is their sum. */
const PARTS = 16
const MAX_SHARES = 10_000

interface Share {
  readonly tenant: string
  readonly user_id: string
  readonly day: number
  readonly part: number
  readonly spend: Spend
  /** Absent: it is new. */
  readonly version?: number
}

export interface SpendWriter {
  /** Writes changes together with spends. @throws {Conflict} When a row has another version. */
  write(spent: readonly Spent[], changes: Changes): Promise<void>
}

/** @param isAlone The host may undo writes: nothing is cached. */
export function spendWriter(db: Database, isAlone: boolean): SpendWriter {
  const readShares = shareReader(db)
  const remembered = boundedMap<Share>(MAX_SHARES)
  const busy = new Set<number>()
  let own = anyPart()
  let conflicts = 0

  /** A part that no other call is writing. */
  function takePart(): number {
    let part = own
    for (let tried = 0; tried < PARTS && busy.has(part); tried++) part = (part + 1) % PARTS
    busy.add(part)
    return part
  }

  /** Removes shares from the cache: their versions are unknown until they are written. */
  async function take(spent: readonly Spent[], part: number): Promise<Map<string, Share>> {
    const shares = new Map<string, Share>()
    for (const { tenant, userId, day } of spent) {
      const key = shareKey(tenant, userId, day, part)
      const known = remembered.get(key) ?? shares.get(key)
      shares.set(key, known ?? { tenant, user_id: userId, day, part, spend: noSpend() })
      remembered.delete(key)
    }
    const unknown = [...shares.values()].filter(({ version }) => version === undefined)
    for (const share of await readShares(unknown))
      shares.set(shareKey(share.tenant, share.user_id, share.day, part), share)
    return shares
  }

  async function writeShares(spent: readonly Spent[], part: number, changes: Changes): Promise<void> {
    const shares = await take(spent, part)
    for (const { tenant, userId, day, add } of spent) {
      const share = shares.get(shareKey(tenant, userId, day, part))
      if (share) addSpend(share.spend, add)
    }
    const written: [key: string, share: Share][] = []
    for (const [key, share] of [...shares].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const { version = firstVersion(), ...rest } = share
      const isNew = share.version === undefined
      changes[isNew ? 'insert' : 'update']('spends', { ...rest, spend: JSON.stringify(rest.spend), version })
      written.push([key, { ...rest, version: isNew ? version : version + 1 }])
    }
    await db.write(changes)
    if (!isAlone) for (const [key, share] of written) remembered.put(key, share)
  }

  return {
    async write(spent, changes) {
      if (spent.length === 0) return db.write(changes)
      const part = takePart()
      try {
        await writeShares(spent, part, changes)
        conflicts = 0
      } catch (cause) {
        // Avoid further conflicts with the other writer of this part.
        if (cause instanceof Conflict && ++conflicts > 1) own = anyPart()
        throw cause
      } finally {
        busy.delete(part)
      }
    },
  }
}

function anyPart(): number {
  return Math.floor(Math.random() * PARTS)
}

function shareKey(tenant: string, userId: string, day: number, part: number): string {
  return compoundKey(tenant, userId, String(day), String(part))
}

function shareReader(db: Database): (shares: readonly Share[]) => Promise<readonly Share[]> {
  const { dialect, nameOf } = db
  const { tenant, user_id, day, part } = TABLES.spends.columns
  const wanted = dialect.rows(dialect.parameter(1), { tenant, user_id, day, part }, 'x')
  const on = 's.tenant = x.tenant and s.user_id = x.user_id and s.day = x.day and s.part = x.part'
  const found = lookUp({ table: 'spends', alias: 's', on }, dialect, nameOf)
  const text = `select ${columnsOf('spends', 's', dialect)} from ${wanted} ${found}`
  return async (shares) => {
    if (shares.length === 0) return []
    const keys = shares.map(({ tenant, user_id, day, part }) => ({ tenant, user_id, day, part }))
    const rows = await db.query<Readonly<Record<string, unknown>>>(text, [JSON.stringify(keys)])
    return rows.map((row) => {
      const record = readRecord('spends', row)
      return { ...record, spend: readSpend(record.spend) }
    })
  }
}

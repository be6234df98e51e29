import { compoundKey } from '../../../model/compound-key.ts'
import { noSpend, type Spend } from '../../../model/totals.ts'
import { boundedMap } from '../bounded-map.ts'
import { type Changes, Conflict, firstVersion } from '../changes.ts'
import { readable } from '../json-values.ts'
import type { Records } from '../records.ts'
import { plusSpend } from './plus-totals.ts'
import type { Spent } from './session-unit-of-work.ts'

/** Maximum records of a user's spend per day. Each writer adds to one of them, which makes conflicts rare; the spend is their sum. */
const PARTS = 16
const MAX_SHARES = 10_000

/** A part of a user's spend of a day. */
interface Share {
  readonly tenant: string
  readonly userId: string
  readonly day: number
  readonly part: number
  spend: Spend
  /** `undefined`: it is new. */
  version: number | undefined
}

export interface SpendWriter {
  /** Writes changes together with spends. @throws {Conflict} When a record has another version. */
  write(spent: readonly Spent[], changes: Changes): Promise<void>
}

/** @param isAlone The host may undo writes: nothing is cached. */
export function spendWriter(records: Records, isAlone: boolean): SpendWriter {
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

  /** Adds spends to the shares of a part, which it puts into `shares`. Returns those that are not cached: they lack the stored spend. */
  function addTo(shares: Map<string, Share>, part: number, spent: readonly Spent[]): readonly Share[] {
    const unknown: Share[] = []
    for (const { tenant, userId, day, add } of spent) {
      const key = shareKey(tenant, userId, day, part)
      const known = shares.get(key) ?? remembered.get(key)
      const share = known ?? { tenant, userId, day, part, spend: noSpend(), version: undefined }
      if (!known) unknown.push(share)
      shares.set(key, share)
      share.spend = plusSpend(share.spend, add)
    }
    return unknown
  }

  async function addStored(shares: ReadonlyMap<string, Share>, unknown: readonly Share[]): Promise<void> {
    const keys = unknown.map(({ tenant, userId, day, part }) => [tenant, userId, day, part])
    const { spends = [] } = await records.read([{ kind: 'spends', with: keys }])
    for (const { tenant, user_id, day, part, spend, version } of spends) {
      const share = shares.get(shareKey(tenant, user_id, day, part))
      if (share) Object.assign(share, { spend: plusSpend(readable(spend), share.spend), version })
    }
  }

  async function writeShares(spent: readonly Spent[], changes: Changes): Promise<void> {
    const part = takePart()
    const shares = new Map<string, Share>()
    try {
      const unknown = addTo(shares, part, spent)
      if (unknown.length > 0) await addStored(shares, unknown)
      for (const share of shares.values()) saveShare(share, changes)
      await changes.commit(records)
      conflicts = 0
      if (!isAlone) for (const [key, share] of shares) if (remembered.get(key) !== share) remembered.put(key, share)
    } catch (cause) {
      // They are not as they are stored.
      for (const key of shares.keys()) remembered.delete(key)
      // Avoid further conflicts with the other writer of this part.
      if (cause instanceof Conflict && ++conflicts > 1) own = anyPart()
      throw cause
    } finally {
      busy.delete(part)
    }
  }

  return {
    write: (spent, changes) => (spent.length === 0 ? changes.commit(records) : writeShares(spent, changes)),
  }
}

/** The share then has the version that will be stored. */
function saveShare(share: Share, changes: Changes): void {
  const { tenant, userId: user_id, day, part, spend, version } = share
  share.version = version === undefined ? firstVersion() : version + 1
  if (version === undefined) changes.insert('spends', { tenant, user_id, day, part, spend, version: share.version })
  else changes.update('spends', { tenant, user_id, day, part, spend, version })
}

function anyPart(): number {
  return Math.floor(Math.random() * PARTS)
}

function shareKey(tenant: string, userId: string, day: number, part: number): string {
  return compoundKey(tenant, userId, String(day), String(part))
}

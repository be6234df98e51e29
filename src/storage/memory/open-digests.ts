import { type DeliveryRow, digestKey, isOpenDigest } from '../rules/dispatch-rows.ts'

/** The digests that may yet be joined. */
export interface OpenDigests {
  /** Takes a delivery in or out, by what it has become. */
  update(row: DeliveryRow): void
  /** The delivery that this one is to join: of several the one that was opened first. */
  find(row: DeliveryRow, now: number): DeliveryRow | undefined
  /** For how many keys there are any. */
  readonly size: number
}

export function openDigests(): OpenDigests {
  const byKey = new Map<string, Set<DeliveryRow>>()
  let opened = 0

  function add(row: DeliveryRow, key: string): void {
    const rows = byKey.get(key)
    if (rows) rows.add(row)
    else byKey.set(key, new Set([row]))
  }

  function remove(row: DeliveryRow, key: string): void {
    const rows = byKey.get(key)
    if (rows?.delete(row) && rows.size === 0) byKey.delete(key)
  }

  return {
    update(row) {
      const { digest } = row
      if (!digest) return
      const open = isOpenDigest(row)
      if (open && digest.opened === 0) digest.opened = ++opened
      const change = open ? add : remove
      change(row, digestKey(row, digest))
    },

    find(row, now) {
      if (!row.digest) return undefined
      const key = digestKey(row, row.digest)
      let oldest: DeliveryRow | undefined
      for (const open of byKey.get(key) ?? []) {
        if (open.wakeAt <= now) remove(open, key)
        else if (!oldest || openedAt(open) < openedAt(oldest)) oldest = open
      }
      return oldest
    },

    get size() {
      return byKey.size
    },
  }
}

function openedAt({ digest }: DeliveryRow): number {
  return digest?.opened ?? 0
}

import type { TokenUse } from '../../model/token-use.ts'

/** A use that is not stored yet. */
export interface Noted extends Omit<TokenUse, 'times'> {
  times: number
  /** Equal for equal uses. */
  readonly key: string
  /** Equal uses wait until this time to be stored together, epoch milliseconds. */
  readonly dueAt: number
}

/** Uses in memory, by key. */
export interface NotedUses {
  /** Adds a use to an equal one, or to the list. Returns false if there is no room. */
  add(use: Noted): boolean
  /** Removes and returns the uses that are due. */
  take(until: number): readonly Noted[]
  /** Time when the first use is due. */
  nextDueAt(): number | undefined
  isEmpty(): boolean
}

/** A tenant may have as many uses as there is room left for all: one tenant gets half of it, two get a third each. */
export function notedUses(max: number): NotedUses {
  const noted = new Map<string, Noted>()
  const held = new Map<string, number>()

  function hold(tenant: string, count: number): void {
    const left = (held.get(tenant) ?? 0) + count
    if (left > 0) held.set(tenant, left)
    else held.delete(tenant)
  }

  return {
    add(use) {
      const found = noted.get(use.key)
      if (found) {
        found.times += use.times
        return true
      }
      if ((held.get(use.tenant) ?? 0) >= max - noted.size) return false
      noted.set(use.key, use)
      hold(use.tenant, 1)
      return true
    },
    take(until) {
      const due = [...noted.values()].filter(({ dueAt }) => dueAt <= until)
      for (const { key, tenant } of due) {
        noted.delete(key)
        hold(tenant, -1)
      }
      return due
    },
    isEmpty: () => noted.size === 0,
    nextDueAt() {
      let next: number | undefined
      for (const { dueAt } of noted.values()) next = Math.min(next ?? dueAt, dueAt)
      return next
    },
  }
}

import { dayOf } from '../../model/day.ts'
import { addSpend, addTotals, noSpend, noTotals, type Spend } from '../../model/totals.ts'
import type { TotalsChanges } from '../../ports/run-store.ts'
import { entry, type SessionEntry, type TenantIndexes } from './run-indexes.ts'

/** Adds to the sums of a session and of its tenant's users. */
export function addSums(
  { session, descendants, users }: TotalsChanges,
  tenantIndexes: TenantIndexes,
  room: SessionEntry,
  now: number,
): void {
  addTotals(room.session.totals, session)
  for (const { runId, add } of descendants) addTotals(entry(room.descendants, runId, noTotals), add)
  for (const { userId, add, at } of users)
    addSpend(entry(daysOf(tenantIndexes, userId), dayOf(at ?? now), noSpend), add)
}

/** What a user spent on that day and after it. */
export function spendSince(tenantIndexes: TenantIndexes | undefined, userId: string, sinceDay: number): Spend {
  const sum = noSpend()
  for (const [day, spend] of tenantIndexes?.spend.get(userId) ?? []) if (day >= sinceDay) addSpend(sum, spend)
  return sum
}

/** Lets go of what a user spent, also where it was summed up below a run. */
export function forgetSpend(tenantIndexes: TenantIndexes, userId: string): void {
  tenantIndexes.spend.delete(userId)
  for (const { descendants } of tenantIndexes.rooms.values())
    for (const { users } of descendants.values()) Reflect.deleteProperty(users, userId)
}

function daysOf(tenantIndexes: TenantIndexes, userId: string): Map<number, Spend> {
  return entry(tenantIndexes.spend, userId, () => new Map())
}

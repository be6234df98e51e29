import { dayOf } from '../../model/day.ts'
import { addSpend, addTally, noSpend, noTally, type Spend } from '../../model/tally.ts'
import type { TallyChanges } from '../../ports/run-store.ts'
import { entry, type Room, type Shelf } from './run-indexes.ts'

/** Adds to the sums of a session and of its tenant's users. */
export function addSums({ session, below, users }: TallyChanges, shelf: Shelf, room: Room, now: number): void {
  addTally(room.session.tally, session)
  for (const { runId, add } of below) addTally(entry(room.below, runId, noTally), add)
  for (const { userId, add, at } of users) addSpend(entry(daysOf(shelf, userId), dayOf(at ?? now), noSpend), add)
}

/** What a user spent on that day and after it. */
export function spendSince(shelf: Shelf | undefined, userId: string, sinceDay: number): Spend {
  const sum = noSpend()
  for (const [day, spend] of shelf?.spend.get(userId) ?? []) if (day >= sinceDay) addSpend(sum, spend)
  return sum
}

/** Lets go of what a user spent, also where it was summed up below a run. */
export function forgetSpend(shelf: Shelf, userId: string): void {
  shelf.spend.delete(userId)
  for (const { below } of shelf.rooms.values())
    for (const { users } of below.values()) Reflect.deleteProperty(users, userId)
}

function daysOf(shelf: Shelf, userId: string): Map<number, Spend> {
  return entry(shelf.spend, userId, () => new Map())
}

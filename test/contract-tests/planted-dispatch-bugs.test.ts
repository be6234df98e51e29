import { describe, expect, it } from 'vitest'
import { ACCEPT_BUGS } from './dispatch-accept-bugs.ts'
import { DATING_BUGS } from './dispatch-dating-bugs.ts'
import { DUE_BUGS } from './dispatch-due-bugs.ts'
import { PERSONAL_BUGS } from './dispatch-personal-bugs.ts'
import { casesWith, fails } from './dispatch-planting.ts'
import { READ_BUGS } from './dispatch-read-bugs.ts'
import { REOPENING_BUGS } from './dispatch-reopening-bugs.ts'
import { REPLAN_BUGS } from './dispatch-replan-bugs.ts'
import { TURN_BUGS } from './dispatch-turn-bugs.ts'
import { WORK_BUGS } from './dispatch-work-bugs.ts'

describe('dispatchStoreContract and the rules of deliveries', () => {
  it('Every case passes on a store with two handles and no bug', async () => {
    const cases = casesWith()
    expect(cases.size).toBeGreaterThan(200)
    for (const [name, run] of cases) expect([name, await fails(run)]).toEqual([name, false])
  })

  const bugs = [
    ...ACCEPT_BUGS,
    ...WORK_BUGS,
    ...READ_BUGS,
    ...DATING_BUGS,
    ...REPLAN_BUGS,
    ...REOPENING_BUGS,
    ...TURN_BUGS,
    ...PERSONAL_BUGS,
    ...DUE_BUGS,
  ]
  const planted = bugs.map((one) => [one.name, one] as const)
  it.each(planted)('A case catches a store where %s', async (_, { caughtBy, plant }) => {
    expect(await fails(casesWith(plant).get(caughtBy))).toBe(true)
  })
})

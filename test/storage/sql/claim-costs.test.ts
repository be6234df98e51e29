import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClaimedDelivery } from '../../../src/ports/dispatch-store.ts'
import { drainTexts, fillTexts } from '../../support/fill-deliveries.ts'
import { type CountedDatabase, countedKinds } from './cost-databases.ts'
import {
  type CostTrial,
  EARLIER,
  FEW,
  MANY,
  NOW,
  openTrial,
  type Prepare,
  STATES,
  UNDER_SNAPSHOT,
} from './cost-trials.ts'

const CLAIMED = 5

for (const kind of countedKinds())
  describe.skipIf(kind.absent)(`a claim on ${kind.name}`, () => {
    let database: CountedDatabase
    let prefixes = 0
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database.close())

    async function claim({ store, clock }: CostTrial, at = NOW): Promise<readonly ClaimedDelivery[]> {
      clock.now = at
      return (await store.claim({ leaseMs: 30_000, limits: { a: CLAIMED }, busy: [] })).deliveries
    }

    /** The cost of one claim among so many waiting deliveries, after the first claim of the process. */
    async function costAmong(count: number, prepare: Prepare) {
      const prefix = `c${++prefixes}_`
      const trial = await openTrial({
        database,
        prefix,
        first: (trial) => claim(trial, EARLIER),
        fill: (name, amount, until) => fillTexts(kind.name, { prefix, name, count: amount, until, channel: 'a' }),
        drain: () => drainTexts(prefix, EARLIER),
      })
      await prepare(trial, count)
      expect(await claim(trial)).toHaveLength(CLAIMED)
      const cost = await trial.costOf(async () => expect(await claim(trial)).toHaveLength(CLAIMED))
      await trial.close()
      return cost
    }

    for (const [state, prepare] of Object.entries({ ...STATES, ...UNDER_SNAPSHOT }))
      it(`A claim reads as much among ${MANY} waiting deliveries as among ${FEW}: ${state}`, async () => {
        const few = await costAmong(FEW, prepare)
        const many = await costAmong(MANY, prepare)
        expect(many).toBeGreaterThan(0)
        // MariaDB counts pages: a deeper tree, and some hundred dead entries a page that a snapshot keeps. It reads them three times:
        // an empty range, such as that of urgent deliveries, ends at the next live entry.
        expect(many).toBeLessThanOrEqual(kind.name === 'mariadb' ? 2 * few + (3 * MANY) / 200 : few + 60)
      }, 600_000)
  })

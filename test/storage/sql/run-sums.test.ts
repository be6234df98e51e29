import { describe, expect, it } from 'vitest'
import type { RunUpdate } from '../../../src/model/run.ts'
import { recordPost } from '../../core/runs/recorded.ts'
import { forests, prices, tangles } from '../../core/runs/sessions/generated-posts.ts'
import { expectSums } from '../../core/runs/sessions/kept-sums.ts'
import { fc, runs, SEED, TIMEOUT_MS } from '../../support/properties.ts'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'

/** All 20,000: `SALLYPORT_PROPERTY_RUNS=4`. */
const POSTS = runs(5_000)
const IN_FLIGHT = 50
const POSTS_OF_A_SESSION = 9

/** Posts about sessions, each of a tenant of its own, one session after the other. */
function drawn(): readonly (readonly [tenant: string, update: RunUpdate])[] {
  const sessions = fc.sample(fc.oneof(forests, tangles), { numRuns: Math.ceil(POSTS / POSTS_OF_A_SESSION), seed: SEED })
  return sessions.flatMap((updates, at) => updates.map((update) => [`t${at}`, update] as const))
}

for (const { name, absent, open } of await databaseKinds())
  describe.skipIf(absent)(`sums of runs in ${name}`, () => {
    const self = storeEach(open)

    it(
      'Sums equal those of the runs after posts through two stores, many in flight in each session',
      async () => {
        const stores = [self.other, self.over(self.db)]
        const posts = drawn()
        expect(posts.length).toBeGreaterThan(POSTS / 2)
        const left = posts.entries()
        await Promise.all(
          Array.from({ length: IN_FLIGHT }, async () => {
            for (const [at, [tenant, update]] of left) {
              const store = stores[at % 2] ?? self.other
              await recordPost(store, { update, source: 'application' }, prices, tenant)
            }
          }),
        )
        for (const tenant of new Set(posts.map(([tenant]) => tenant))) {
          const { items } = await self.other.listRuns({ tenant, sessionId: 's1', limit: 1_000 })
          await expectSums(self.other, items, tenant)
        }
      },
      TIMEOUT_MS,
    )
  })

import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import { put } from '../../src/contract-tests/run-store/run-fixtures.ts'
import { databaseKinds } from './databases.ts'
import { storeEach } from './store-each.ts'

const IDS = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`a list of runs by tag in ${kind.name}`, () => {
    const own = storeEach(kind.open)

    it('A list by tag skips tags of removed runs', async () => {
      const store = own.other
      for (const runId of IDS) {
        await put(store, { tenant: 't', sessionId: 's', runId }, { tags: ['x'] })
        own.clock.advance(1)
      }
      await own.db.executeQuery(CompiledQuery.raw(`delete from ${own.prefix}runs where run_id in ('r1', 'r3', 'r4')`))
      const query = { tenant: 't', tag: 'x', limit: 1 }
      const listed: string[] = []
      let cursor: string | undefined
      do {
        const page = await store.listRuns({ ...query, cursor })
        listed.push(...page.items.map(({ state }) => state.runId))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(listed).toEqual(['r2', 'r5', 'r6'])
    })
  })

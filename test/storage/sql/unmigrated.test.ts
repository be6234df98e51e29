import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handleDispatchWithDefaults, handleSessionRunWithDefaults } from '../../../src/compose/defaults.ts'
import { isSallyportError } from '../../../src/errors.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { ORDER } from '../../core/dispatch/dispatching.ts'
import { APP, testDeps } from '../../support/deps.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`an unmigrated store on ${kind.name}`, () => {
    let database: TestDatabase | undefined
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database?.close())

    function unmigrated() {
      const { connect, dialect } = database as TestDatabase
      return sqlStore({ db: connect(), dialect, prefix: 'nobody_', timeoutMs: UNHURRIED_MS })
    }

    const SAYS = /"nobody_"\. Run `await store\.migrate\(\)`/

    it('The first failure of an unmigrated store is logged with the remedy, and the caller gets a plain 503', async () => {
      const deps = testDeps()
      const store = unmigrated()
      const run = { headers: APP, body: { sessionId: 's1', run: { runId: 'r1' } } }
      for (const answer of [
        await handleDispatchWithDefaults({ headers: APP, body: ORDER }, { ...deps, store }),
        await handleSessionRunWithDefaults(run, { ...deps, store }),
      ]) {
        expect(answer).toMatchObject({
          status: 503,
          headers: { 'retry-after': '30' },
          body: { code: 'store_unavailable', detail: 'Try again later.' },
        })
        expect(JSON.stringify(answer)).not.toMatch(/migrate|nobody_/)
      }
      const fields = { cause: expect.stringMatching(SAYS), causeCode: 'config_invalid' }
      expect(deps.logger.lines).toMatchObject([
        { level: 'error', event: 'request.failed', fields },
        { level: 'error', event: 'request.failed', fields },
      ])
    })

    it("Workers and reads get config_invalid with the driver's error as its cause", async () => {
      const store = unmigrated()
      for (const call of [
        () => store.claim({ limits: { a: 1 }, leaseMs: 1_000, busy: [] }),
        () => store.listDispatches({ limit: 1 } as never),
        () => store.listRuns({ limit: 1 } as never),
      ]) {
        const thrown: unknown = await call().catch((error: unknown) => error)
        expect(isSallyportError(thrown) && [thrown.code, thrown.message]).toEqual([
          'config_invalid',
          expect.stringMatching(SAYS),
        ])
        expect(Reflect.get(Object(thrown), 'cause')).toBeInstanceOf(Error)
      }
    })

    it('A store works without a restart after the migration', async () => {
      const deps = testDeps()
      const store = unmigrated()
      await store.migrate()
      const answer = await handleDispatchWithDefaults({ headers: APP, body: ORDER }, { ...deps, store })
      expect(answer).toMatchObject({ status: 202 })
    })
  })

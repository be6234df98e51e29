import { expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import { databaseKinds } from '../../storage/databases.ts'
import { describeProcesses, minute } from '../different-sets.ts'

const RUN_EVENTS = { 'run.failed': () => ({ recipient: 'ops@example.com' }) }

describeProcesses(
  (database) => {
    it('A run event waits for a process that publishes it', async () => {
      const { clock, start } = await database()
      const [first, bare, second] = [
        start([alerts({ runEvents: RUN_EVENTS })]),
        start([]),
        start([alerts({ runEvents: RUN_EVENTS })]),
      ]
      // The first process stores the signal, and dies before it publishes it.
      const { store } = first.sallyport
      const dying = start([alerts({ runEvents: RUN_EVENTS })], {
        store: { ...store, accept: () => new Promise(() => {}) },
      })
      const body = JSON.stringify({
        sessionId: 's1',
        run: { runId: 'r1', provider: 'p', model: 'm', status: 'failed' },
      })
      const headers = { authorization: 'Bearer app', 'content-type': 'application/json' }
      const request = new Request('https://app.example/api/agents/session/run', { method: 'POST', body, headers })
      expect((await toFetch(dying.sallyport)(request)).status).toBe(201)
      clock.advance(3_600_000)
      await minute(clock, bare)
      expect((await bare.sallyport.dispatches.list()).items).toEqual([])
      await minute(clock, second)
      expect(second.email.sent.map(({ to }) => to)).toEqual(['ops@example.com'])
    })
  },
  await databaseKinds(),
)

import { expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { issueSessionToken } from '../../../src/auth/index.ts'
import { agentTokens } from '../../../src/plugins/agent-tokens/agent-tokens.ts'
import { databaseKinds } from '../../storage/databases.ts'
import { AUDIENCE, describeProcesses, KEY, type Process } from '../different-sets.ts'

describeProcesses(
  (database) => {
    it('A token that one process revokes passes in none', async () => {
      const { clock, start } = await database()
      const [api, bare] = [start([agentTokens()]), start([])]
      const token = await issueSessionToken({ sessionId: 's1', key: KEY, audience: AUDIENCE, clock, grants: {} })
      const post = async ({ sallyport }: Process, runId: string): Promise<number> => {
        const body = JSON.stringify({ sessionId: 's1', run: { runId, provider: 'p', model: 'm', status: 'running' } })
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        const request = new Request('https://app.example/api/agents/session/run', { method: 'POST', body, headers })
        return (await toFetch(sallyport)(request)).status
      }
      expect([await post(api, 'r1'), await post(bare, 'r2')]).toEqual([201, 201])
      await api.sallyport.tokens.revoke({ sessionId: 's1' })
      clock.advance(60_000)
      expect([await post(api, 'r3'), await post(bare, 'r4')]).toEqual([401, 401])
    })
  },
  await databaseKinds(),
)

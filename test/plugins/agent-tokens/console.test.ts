import { expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createConsole } from '../../../src/console/index.ts'
import { createSallyport } from '../../../src/index.ts'
import { agentTokens } from '../../../src/plugins/agent-tokens/agent-tokens.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { jsonOf } from '../../openapi/posting.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'

it('In the console, one tenant does not see the uses of tokens of another', async () => {
  const sallyport = createSallyport({
    ...{ auth: testAuth, store: memoryStore(), logger: recordingLogger() },
    plugins: [agentTokens()],
  })
  const headers = { authorization: 'Bearer session', 'content-type': 'application/json' }
  const body = JSON.stringify({ sessionId: 's1', run: { runId: 'r1' } })
  const post = new Request('http://127.0.0.1/api/agents/session/run', { method: 'POST', headers, body })
  expect((await toFetch(sallyport)(post)).status).toBe(201)
  const usesOf = async (tenant: string): Promise<number> => {
    const answer = toFetch(createConsole(sallyport, { access: () => ({ access: 'read', tenant }) }))
    const { items } = await jsonOf(await answer(new Request('http://127.0.0.1/api/agents/tokens/uses')))
    return Object(items).length
  }
  expect([await usesOf('default'), await usesOf('other')]).toEqual([1, 0])
})

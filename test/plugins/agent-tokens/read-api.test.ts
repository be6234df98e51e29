import { expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { agentTokens } from '../../../src/plugins/agent-tokens/agent-tokens.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { jsonOf } from '../../openapi/posting.ts'
import { recordingLogger } from '../../support/deps.ts'

const USES = '/api/agents/tokens/uses'

/** Asks as a caller who may do this. */
async function ask(path: string, operation: 'read' | 'manage') {
  const auth = { verify: async () => ({ id: 'support', tenant: 'default', operations: [operation] }) }
  const sallyport = createSallyport({ auth, store: memoryStore(), logger: recordingLogger(), plugins: [agentTokens()] })
  const headers = { authorization: 'Bearer support' }
  const answer = await toFetch(sallyport)(new Request(`http://shop.test${path}`, { headers }))
  return { status: answer.status, json: await jsonOf(answer) }
}

it('Uses of tokens are refused to a caller who may not read', async () => {
  const { status, json } = await ask(USES, 'manage')
  expect([status, json.code]).toEqual([403, 'insufficient_scope'])
})

it('A wrong outcome is refused with a pointer to the parameter', async () => {
  const { status, json } = await ask(`${USES}?outcome=x`, 'read')
  expect([status, json]).toMatchObject([422, { code: 'query_invalid', errors: [{ pointer: '/outcome' }] }])
})

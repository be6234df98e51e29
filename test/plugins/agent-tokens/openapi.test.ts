import { expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { openapiDocument } from '../../../src/openapi/index.ts'
import { agentTokens } from '../../../src/plugins/agent-tokens/agent-tokens.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'

it('openapiDocument() omits the token exchange of a host whose verifier exchanges none', () => {
  const { verify } = testAuth
  const plugins = [agentTokens()]
  const sallyport = createSallyport({ auth: { verify }, store: memoryStore(), logger: recordingLogger(), plugins })
  expect(openapiDocument({ sallyport }).paths['/api/agents/session/token']).toBeUndefined()
})

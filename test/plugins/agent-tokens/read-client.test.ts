import { expect, it } from 'vitest'
import { agentTokens } from '../../../src/plugins/agent-tokens/agent-tokens.ts'
import { readHost } from '../../client/read-host.ts'

it('A client lists the uses of session tokens', async () => {
  const { read } = await readHost([agentTokens()])
  expect(await read.tokens.uses({ outcome: 'refused' })).toEqual({ items: [] })
})

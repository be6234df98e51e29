import { expect, it } from 'vitest'
import type { HostSallyport } from '../../../src/cli/host-module.ts'
import { AGENT_TOKENS_COMMANDS } from '../../../src/plugins/agent-tokens/commands.ts'

const { prune } = AGENT_TOKENS_COMMANDS

it('The command prune removes old uses of tokens', async () => {
  const asked: object[] = []
  const tokens = {
    prune: async (old: object) => {
      asked.push(old)
      return { pruned: 3 }
    },
  }
  const old = { olderThan: 86_400_000, tenant: 'other' }
  expect(await prune?.remove({ tokens } as unknown as HostSallyport, old)).toBe(3)
  expect(asked).toEqual([old])
})

it('The command prune removes no uses of tokens in a host without the plugin', async () => {
  expect(await prune?.remove({ tokens: {} } as unknown as HostSallyport, { olderThan: 1 })).toBe(0)
})

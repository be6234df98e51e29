import { describe, expect, it } from 'vitest'
import { channelContract } from '../../src/contract-tests/channel-contract.ts'
import type { ChannelTrial } from '../../src/contract-tests/channel-trial.ts'
import type { ChannelCapabilities } from '../../src/contract-tests/index.ts'
import { textOf } from '../hostile/leaks/collecting.ts'

/** Capabilities of a channel that reaches every recipient and never fails. */
export const ALWAYS_SENDS: ChannelCapabilities = {
  ...{ unreachable: false, abort: false, reject: false, retry: false, unknown: false, hang: false },
}

/**
 * Tests what every channel must do: the contract, and that no printed form of it shows a secret.
 *
 * @param name The end of its entry, as a plain text: a test of the entries looks for it in all tests.
 */
export function testChannel(
  name: string,
  create: () => ChannelTrial | Promise<ChannelTrial>,
  capabilities: ChannelCapabilities = {},
): void {
  describe(`channelContract on ${name}()`, () => {
    channelContract({ test: it, skip: it.skip, create, capabilities })

    it('No printed form of the channel shows a secret', async () => {
      const { channel, secrets = [], close } = await create()
      const printed = textOf(channel)
      expect(secrets.filter((secret) => printed.includes(secret))).toEqual([])
      await close?.()
    })
  })
}

import type { Channel } from '../../src/ports/channel.ts'

export const rejectingChannel: Channel = {
  address: ({ email }) => email,
  send: async () => ({ outcome: 'rejected', code: 'no' }),
}

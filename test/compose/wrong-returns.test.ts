import { describe, expect, it } from 'vitest'
import { HOST_PORTS, type HostPort, hostApp } from './host-ports.ts'
import { testReturns } from './port-tests.ts'

describe.each(HOST_PORTS)('$call', testReturns)

describe('a channel with an unreadable outcome', () => {
  const port = HOST_PORTS.find(({ call }) => call === 'send() of the channel') as HostPort

  it.each<[string, unknown]>([
    ['a getter that throws', Object.defineProperty({}, 'outcome', { get: () => fail(), enumerable: true })],
    ['an id that throws', Object.defineProperty({ outcome: 'sent' }, 'providerMessageId', { get: () => fail() })],
    ['the answer of a provider', { status: 'sent' }],
    ['true', true],
  ])('is asked once: %s', async (_, given) => {
    let sends = 0
    const app = hostApp(port, () => {
      sends += 1
      return given
    })
    expect(await port.use(app)).toBe(port.wrong)
    expect(sends).toBe(1)
    expect(app.logger.lines.map(({ event }) => event)).toContain('channel.outcome_invalid')
  })

  it('keeps the outcome when only its code is missing', async () => {
    const app = hostApp(port, () => ({ outcome: 'rejected' }))
    expect(await port.use(app)).toBe('failed provider_rejected code_invalid 1 attempts')
    const cause =
      "send() of the channel returned undefined as code; return a lower_snake word such as 'mailbox_full', never text of the provider"
    expect(app.logger.lines).toContainEqual(
      expect.objectContaining({ event: 'channel.outcome_invalid', fields: expect.objectContaining({ cause }) }),
    )
  })
})

function fail(): never {
  throw new Error('canary')
}

import { log } from 'sallyport/channels/log'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ChannelTrial } from '../../src/contract-tests/channel-trial.ts'
import { FUNCTION } from '../options/option-rows.ts'
import { testOptions } from '../options/option-tests.ts'
import { ALWAYS_SENDS, testChannel } from './channel-tests.ts'
import { context, message } from './messages.ts'

function logTrial(): ChannelTrial {
  const lines: string[] = []
  return {
    channel: log({ write: (line) => lines.push(line) }),
    recipient: { id: 'u1' },
    content: (word) => ({ text: `It is ${word}` }),
    received: () =>
      lines.map((text) => {
        const [, idempotencyKey = ''] = /delivery: (\S+)/.exec(text) ?? []
        return { text, idempotencyKey }
      }),
  }
}

testChannel('log', logTrial, ALWAYS_SENDS)
testOptions('sallyport/channels/log log', 'LogOptions', log, {}, { write: FUNCTION })

test('log prints a message as one readable block', async () => {
  const lines: string[] = []
  const channel = log({ write: (line) => lines.push(line) })
  const content = { subject: 'Order 7', text: 'one\ntwo', data: { total: 7 } }
  expect(await channel.send(message('user_42', content), context())).toEqual({ outcome: 'sent' })
  expect(lines).toEqual([
    [
      '[sallyport] log',
      '  to:       user_42',
      '  event:    order.shipped',
      '  delivery: dlv_1 (attempt 1)',
      '  subject: Order 7',
      '  text: one',
      '    two',
      '  data: {',
      '      "total": 7',
      '    }',
    ].join('\n'),
  ])
})

test('Logged content cannot control the terminal or look like another field', async () => {
  const lines: string[] = []
  const content = { text: 'a\u001b[2Jb\rc\u009bd\n  to:       eve' }
  await log({ write: (line) => lines.push(line) }).send(message('u\u001b]0;x\u0007\n1', content), context())
  expect(lines[0]).toContain('  to:       u]0;x 1\n')
  expect(lines[0]).toContain('  text: a[2Jbcd\n      to:       eve')
})

test('log reaches every recipient and writes to the console by default', async () => {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => print.mockRestore())
  const channel = log()
  expect(channel.address({ id: 'user_42' })).toBe('user_42')
  expect(channel.checkFields).toBeUndefined()
  await channel.send(message('user_42', {}), context())
  expect(print).toHaveBeenCalledOnce()
})

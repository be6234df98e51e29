import { expect, test } from 'vitest'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { acceptMany, app, pass, settled, type TestApp } from './test-app.ts'

function lines({ deps }: TestApp) {
  return deps.logger.lines.filter(({ event }) => event === 'channel.unreachable')
}

/** A channel that fails with these codes in turn, and then with the last one. */
function failing(...codes: readonly string[]) {
  const outcomes = codes.map((code): SendOutcome => ({ outcome: 'retry', code, retryAfterMs: 0 }))
  const last = outcomes.at(-1) as SendOutcome
  return recordingChannel([...outcomes, ...Array.from({ length: 200 }, () => last)], {
    retrySchedule: Array(100).fill(500),
  })
}

test('The first attempt that reached no provider is logged with what to check, and then one in a minute', async () => {
  const own = app({ a: failing('connection_failed') })
  await acceptMany(own.deps, 3)
  own.worker.start()
  await settled(own)
  expect(lines(own)).toEqual([
    {
      level: 'warn',
      event: 'channel.unreachable',
      fields: {
        ...{ attempt: 1, channel: 'a', deliveryId: expect.any(String), dispatchId: expect.any(String) },
        code: 'connection_failed',
        detail: 'No connection was made: check host and port, TLS, and the way through firewalls.',
      },
    },
  ])
  await pass(own, 59_000)
  expect(lines(own)).toHaveLength(1)
  await pass(own, 2_000)
  expect(lines(own)).toMatchObject([{}, { fields: { omitted: expect.any(Number) } }])
  await own.worker.stop()
})

test('Each code is logged on its own, and codes of single messages are not', async () => {
  const own = app({ a: failing('smtp_450', 'smtp_auth', 'http_500', 'connection_failed') })
  await acceptMany(own.deps, 1)
  own.worker.start()
  await pass(own, 5_000)
  expect(lines(own).map(({ fields }) => fields.code)).toEqual(['smtp_auth', 'connection_failed'])
  await own.worker.stop()
})

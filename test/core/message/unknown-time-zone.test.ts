import { describe, expect, it, vi } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Recipient } from '../../../src/model/recipient.ts'
import { quietHours } from '../../../src/policies/index.ts'
import type { DeliveryPolicy } from '../../../src/ports/delivery-policy.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { attempt } from '../delivery/attempting.ts'
import { post } from '../dispatch/dispatching.ts'

const events = defineEvents({ ping: { channels: { a: {} } } })
const policy = quietHours({ from: '22:00', to: '08:00', timeZone: 'UTC' })

function depsWith(zoneOf: (id: string) => unknown, given: DeliveryPolicy | undefined = policy): TestDeps {
  const recipients = { find: async (id: string) => ({ id, email: 'a@b.test', timeZone: zoneOf(id) }) as Recipient }
  return testDeps({ a: recordingChannel() }, { events, recipients, ...(given && { policy: given }) })
}

async function linesFor(...zones: readonly unknown[]): Promise<TestDeps['logger']['lines']> {
  const deps = depsWith((id) => zones[Number(id)])
  for (const at of zones.keys()) expect((await post(deps, { eventType: 'ping', recipient: `${at}` })).status).toBe(202)
  return deps.logger.lines.filter(({ event }) => event === 'recipient.time_zone_unknown')
}

const UNKNOWN = 'is no IANA time zone that this runtime knows, so the policy uses its own'
const detail = (shape: string): string =>
  `a timeZone of the directory, of the form "${shape}", ${UNKNOWN}; write one such as Europe/Vienna`
const nearDetail = (near: string): string => `a timeZone of the directory ${UNKNOWN}; near: ${near}`

describe('a time zone of the directory that the runtime does not know', () => {
  it.each([
    ['W. Europe Standard Time', 'A. Aa Aa Aa'],
    ['GMT+1', 'A+9'],
    ['Wien (Ada Lovelace, +43 660 1234567)', 'Aa (Aa Aa, +9 9 9)'],
    ['Österreich\n\u0000', '?a?'],
    [`${'ab'.repeat(40)}/x`, 'a'],
  ])('%j is logged in the form %j, without its text', async (zone, shape) => {
    expect(await linesFor(zone)).toEqual([
      { level: 'warn', event: 'recipient.time_zone_unknown', fields: { eventType: 'ping', detail: detail(shape) } },
    ])
  })

  it('is logged once for each form', async () => {
    const lines = await linesFor('Romance Standard Time', 'Eastern Standard Time', 'UTC+1', 'GMT+12', 'Mars/Olympus')
    expect(lines.map(({ fields }) => fields.detail)).toEqual([detail('Aa Aa Aa'), detail('A+9'), detail('Aa/Aa')])
  })

  it('is logged with near names instead, once for each', async () => {
    const lines = await linesFor('Europe/Pariss', 'europe/pariss', 'Europe/Pariss', ' Europe/Vienna')
    const details = lines.map(({ fields }) => String(fields.detail))
    expect(details).toEqual([expect.stringContaining('near: Europe/Paris'), nearDetail('Europe/Vienna')])
  })

  it('is compared with the known names once, however often it comes', async () => {
    const names = vi.spyOn(Intl, 'supportedValuesOf')
    await linesFor('Europe/Wienn', 'Europe/Wienn', 'Europe/Wienn')
    expect(names).toHaveBeenCalledTimes(1)
    names.mockRestore()
  })

  it('is logged for at most a hundred forms', async () => {
    expect(
      await linesFor(...Array.from({ length: 110 }, (_, at) => '+'.repeat(1 + (at % 60)) + (at < 60 ? 'a' : '1'))),
    ).toHaveLength(100)
  })

  it('is not logged when it is known, in any case, or absent', async () => {
    expect(
      await linesFor('Europe/Vienna', 'europe/vienna', 'US/Eastern', 'Asia/Calcutta', 'UTC', '', undefined),
    ).toEqual([])
  })

  it('is not logged without a policy: nothing reads it', async () => {
    const deps = depsWith(() => 'GMT+1', null as never)
    await post(deps, { eventType: 'ping', recipient: 'u1' })
    expect(deps.logger.lines).toEqual([])
  })

  it('is logged when the worker asks the policy again', async () => {
    let zone = 'UTC'
    const deps = depsWith(() => zone)
    await post(deps, { eventType: 'ping', recipient: 'u1' })
    zone = 'GMT+1'
    deps.clock.advance(3_600_000)
    await attempt(deps)
    expect(deps.logger.lines.map(({ event }) => event)).toContain('recipient.time_zone_unknown')
  })
})

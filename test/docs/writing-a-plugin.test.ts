import { readFileSync } from 'node:fs'
import { type AuthVerifier, createSallyport, defineEvents } from 'sallyport'
import { toFetch } from 'sallyport/fetch'
import { memoryStore } from 'sallyport/storage/memory'
import { fakeClock } from 'sallyport/testing'
import { describe, expect, it } from 'vitest'
import { holidays } from '../../docs/examples/holidays.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const docs = new URL('../../docs/', import.meta.url)
const page = readFileSync(new URL('writing-a-plugin.md', docs), 'utf8')

const auth: AuthVerifier = { verify: () => ({ id: 'admin', tenant: 'default', operations: ['manage'] }) }

const HOUR_MS = 3_600_000
const CHRISTMAS = Date.UTC(2026, 11, 25, 10)
const DAYS: Readonly<Record<string, readonly string[]>> = { DE: ['2026-12-25', '2026-12-26'] }
const plugin = holidays((day, country) => DAYS[country]?.includes(day) ?? false)

const RECIPIENTS: Readonly<Record<string, { readonly email: string; readonly timeZone?: string }>> = {
  ada: { email: 'ada@example.com' },
  bob: { email: 'bob@example.com', timeZone: 'Pacific/Auckland' },
  eve: { email: 'eve@example.com', timeZone: 'Nowhere/None' },
}

function host() {
  const clock = fakeClock(CHRISTMAS)
  const email = recordingChannel()
  const sallyport = createSallyport<unknown, [typeof plugin]>({
    ...{ auth, store: memoryStore({ clock }), clock, channels: { email }, plugins: [plugin] },
    recipients: { find: async (id) => (RECIPIENTS[id] ? { id, ...RECIPIENTS[id] } : undefined) },
    events: defineEvents({
      news: { channels: { email: { text: () => 'News' } } },
      alarm: { critical: true, channels: { email: { text: () => 'Alarm' } } },
    }),
  })
  const rest = (recipient: string, more: object = {}) =>
    sallyport.holidays.rest({ recipient, country: 'DE', lastDay: '2027-12-31', ...more })
  const sent = async (eventType: string, recipient: string): Promise<unknown> => {
    const answer = await sallyport.dispatch({ eventType, recipient })
    if (!answer.ok) return answer.body.code
    const { nextAttemptAt } = answer.body.deliveries[0] ?? {}
    return nextAttemptAt ?? 'at once'
  }
  return { sallyport, clock, email, rest, sent }
}

describe('the guide to writing a plugin', () => {
  it('The guide to writing a plugin quotes holidays.ts in full', () => {
    const [code] = [...page.matchAll(/^```typescript\n(.*?)^```$/gms)].map(([, block = '']) => block)
    expect(code).toBe(readFileSync(new URL('examples/holidays.ts', docs), 'utf8'))
  })

  it('A message to a recipient who rests waits until the holidays are over', async () => {
    const { sallyport, clock, email, rest, sent } = host()
    expect(await sent('news', 'ada')).toBe('at once')
    await rest('ada')
    expect(await sent('news', 'ada')).toBe('2026-12-27T00:00:00.000Z')
    expect(await sent('news', 'bob')).toBe('at once')
    await sallyport.worker.runDue()
    expect(email.sent).toHaveLength(2)
    clock.advance(38 * HOUR_MS)
    await sallyport.worker.runDue()
    expect(email.sent).toHaveLength(3)
  })

  it('The day is that of the recipient, and critical events do not wait', async () => {
    const { clock, rest, sent } = host()
    for (const recipient of ['bob', 'eve']) await rest(recipient)
    // In Auckland the holidays end eleven hours earlier or more.
    expect(await sent('news', 'bob')).toBe('2026-12-26T11:00:00.000Z')
    expect(await sent('news', 'eve')).toBe('2026-12-27T00:00:00.000Z')
    expect(await sent('alarm', 'bob')).toBe('at once')
    clock.advance(26 * HOUR_MS)
    expect(await sent('news', 'bob')).toBe('at once')
  })

  it('A rest ends after its last day, and pruning then removes it', async () => {
    const { sallyport, clock, rest, sent } = host()
    await rest('ada', { lastDay: '2026-12-24' })
    expect(await sent('news', 'ada')).toBe('at once')
    await rest('ada', { lastDay: '2026-12-25' })
    expect(await sent('news', 'ada')).toBe('2026-12-26T00:00:00.000Z')
    const kept = async () => (await sallyport.dispatches.export({ recipient: 'ada' })).plugins?.holidays
    expect(await kept()).toEqual({ rests: [{ country: 'DE', lastDay: '2026-12-25' }] })
    await sallyport.dispatches.prune({ olderThan: HOUR_MS })
    expect(await kept()).toMatchObject({ rests: [{}] })
    clock.advance(16 * HOUR_MS)
    await sallyport.dispatches.prune({ olderThan: HOUR_MS })
    expect(await kept()).toEqual({ rests: [] })
  })

  it('An erasure of the recipient removes the rest of one tenant, also for an address that no record can have', async () => {
    const { sallyport, rest, sent } = host()
    await rest('ada')
    await rest('ada', { tenant: 'other' })
    await sallyport.dispatches.erase({ recipient: 'ada', tenant: 'other' })
    expect(await sent('news', 'ada')).toBe('2026-12-27T00:00:00.000Z')
    await sallyport.dispatches.erase({ recipient: 'ada' })
    expect(await sent('news', 'ada')).toBe('at once')
    await sallyport.dispatches.erase({ recipient: 'x'.repeat(300) })
  })

  it('The endpoint takes the rest of a recipient, with a pointer for each mistake', async () => {
    const { sallyport, sent } = host()
    const call = async (body: object) => {
      const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' }
      const given = { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await toFetch(sallyport)(new Request('http://host/api/outbound/holidays', given))
      return { status: answer.status, body: await answer.json() }
    }
    const given = { recipient: 'ada', country: 'DE', lastDay: '2027-12-31' }
    expect(await call(given)).toEqual({ status: 200, body: given })
    expect(await sent('news', 'ada')).toBe('2026-12-27T00:00:00.000Z')
    const wrong = await call({ ...given, country: 'Germany', lastDay: 'never' })
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ pointer: '/country' }, { pointer: '/lastDay' }] } })
    expect(await call({ ...given, city: 'Bonn' })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/city' }] },
    })
  })
})

import { describe, expect, it } from 'vitest'
import { SallyportError } from '../../../src/errors.ts'
import type { HashKey } from '../../../src/options/hash-keys.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { aroundRecords } from '../../support/records.ts'
import {
  ADA,
  about,
  COMPLAINT,
  type ConsentApp,
  consentApp,
  HARD_BOUNCE,
  HOUR_MS,
  KEY,
  NEXT_KEY,
  SOFT_BOUNCE,
} from './consenting.ts'

/** Outcomes of three events, by their names. */
async function outcomesOf(app: ConsentApp): Promise<Readonly<Record<string, string | undefined>>> {
  const outcomes: Record<string, string | undefined> = {}
  for (const event of ['order', 'news', 'code']) outcomes[event] = (await app.outcomes(await app.send(event)))[0]
  return outcomes
}

const SENT = { order: 'sent', news: 'sent', code: 'sent' }
const SUPPRESSED = 'skipped suppressed'

describe('suppressions', () => {
  it('A suppressed delivery names its suppressions, those before it was planned and those after', async () => {
    const app = consentApp()
    const { dispatches, suppressions } = app.sallyport
    const late = await app.sallyport.dispatch({ eventType: 'order', recipient: ADA } as never, { delayMs: HOUR_MS })
    await suppressions.add({ channel: 'chat', address: ADA })
    await app.report(COMPLAINT)
    const since = new Date(app.clock.now()).toISOString()
    app.clock.advance(HOUR_MS)
    const ids = [await app.send('order'), (late.ok && late.body.dispatchId) || '']
    for (const id of ids) {
      const [delivery] = (await dispatches.get(id))?.deliveries ?? []
      expect(delivery).toMatchObject({ reason: 'suppressed', address: 'a…@example.com' })
      expect(delivery?.suppressions).toMatchObject([{ channel: 'email', reason: 'complained', createdAt: since }])
    }
    await suppressions.remove({ address: ADA })
    expect((await dispatches.get(ids[0] ?? ''))?.deliveries[0]?.suppressions).toEqual([])
    const [sent] = (await dispatches.get(await app.send('order')))?.deliveries ?? []
    expect([sent?.address, sent?.suppressions]).toEqual([undefined, undefined])
  })

  it('Suppressions are found and removed by the key of their address, in their own tenant only', async () => {
    const { suppressions } = consentApp().sallyport
    for (const channel of ['email', 'chat']) await suppressions.add({ channel, address: ADA })
    const [{ addressKey = '' } = {}] = await suppressions.find({ address: ADA })
    expect(await suppressions.find({ addressKey, channel: 'email' })).toHaveLength(1)
    expect(await suppressions.find({ addressKey, tenant: 'other' })).toEqual([])
    expect(await suppressions.remove({ addressKey, tenant: 'other' })).toEqual({ removed: 0 })
    expect(await suppressions.remove({ addressKey })).toEqual({ removed: 2 })
    for (const of of [{}, { address: ADA, addressKey }])
      await expect(suppressions.find(of)).rejects.toMatchObject({
        problems: [{ field: 'address', detail: 'give either address or addressKey' }],
      })
  })

  it.each([
    ['a complaint', COMPLAINT, { order: SUPPRESSED, news: SUPPRESSED, code: SUPPRESSED }],
    ['a hard bounce', HARD_BOUNCE, { order: SUPPRESSED, news: SUPPRESSED, code: SUPPRESSED }],
    ['a soft bounce', SOFT_BOUNCE, { order: SUPPRESSED, news: SUPPRESSED, code: 'sent' }],
    ['a delivery', { type: 'email.delivered', data: about(undefined) }, SENT],
  ])('%s suppresses the address as it must', async (_, event, expected) => {
    const app = consentApp()
    await app.report(event)
    expect(await outcomesOf(app)).toEqual(expected)
    // Another address and another channel.
    expect(await app.outcomes(await app.send('order', 'eve@example.com'))).toEqual(['sent'])
    expect((await app.outcomes(await app.send('both'))).at(-1)).toBe('sent')
  })

  it('A soft bounce expires, a complaint does not', async () => {
    const app = consentApp()
    await app.report(SOFT_BOUNCE)
    app.clock.advance(24 * HOUR_MS)
    expect(await outcomesOf(app)).toEqual(SENT)
    await app.report(COMPLAINT)
    app.clock.advance(1_000 * 24 * HOUR_MS)
    expect(await outcomesOf(app)).toMatchObject({ order: SUPPRESSED })
  })

  it('A hard bounce after a soft bounce of the same message suppresses, in either order', async () => {
    for (const events of [
      [SOFT_BOUNCE, HARD_BOUNCE],
      [HARD_BOUNCE, SOFT_BOUNCE],
    ]) {
      const app = consentApp()
      for (const event of events) await app.report(event)
      const found = await app.sallyport.suppressions.find({ address: ADA })
      expect(found.map(({ reason }) => reason).toSorted()).toEqual(['bounced', 'soft_bounced'])
    }
  })

  it('`softBounceMs` 0 suppresses nothing after a soft bounce', async () => {
    const app = consentApp({ consenting: { softBounceMs: 0 } })
    await app.report(SOFT_BOUNCE)
    expect(await outcomesOf(app)).toEqual(SENT)
  })

  it('An unsubscription at the provider suppresses the category of the delivery, or without a delivery every category', async () => {
    const app = consentApp()
    await app.report({ type: 'contact.updated', data: { email: ADA, unsubscribed: true } })
    expect(await outcomesOf(app)).toEqual({ order: SUPPRESSED, news: SUPPRESSED, code: 'sent' })
    const unsubscribed = { kind: 'unsubscribed', eventId: 'e', address: ADA } as const
    const own = consentApp({
      sources: {
        own: {
          ...{ tenant: 'default', channel: 'email' },
          receive: async () => ({
            outcome: 'events',
            events: [{ ...unsubscribed, deliveryId: own.email.sent[0]?.deliveryId ?? '' }],
          }),
        },
      },
    })
    await own.send('news')
    await own.fetch(new Request('https://app.example/api/outbound/feedback/own', { method: 'POST', body: 'x' }))
    expect(await outcomesOf(own)).toEqual({ order: 'sent', news: SUPPRESSED, code: 'sent' })
  })

  it('With the route first, a suppressed channel passes to the next one', async () => {
    const app = consentApp()
    await app.report(COMPLAINT)
    expect(await app.outcomes(await app.send('first'))).toEqual([SUPPRESSED, 'sent'])
    expect(app.chat.sent).toHaveLength(1)
  })

  it('A complaint between two attempts stops the second one, and a held channel takes its place', async () => {
    const email = recordingChannel([{ outcome: 'retry', code: 'busy' }, { outcome: 'sent' }])
    const app = consentApp({ email })
    const id = await app.send('first')
    expect(await app.outcomes(id)).toEqual(['queued', 'held'])
    await app.report(COMPLAINT)
    app.clock.advance(24 * HOUR_MS)
    await app.sallyport.worker.runDue()
    await app.sallyport.worker.runDue()
    expect(email.sent).toHaveLength(1)
    expect(await app.outcomes(id)).toEqual([SUPPRESSED, 'sent'])
  })

  it.each([
    ['in another case', 'ADA@Example.COM'],
    ['with a display name', 'Ada Lovelace <ada@example.com>'],
  ])('An address that the provider writes %s is the same', async (_, to) => {
    const app = consentApp()
    await app.report({ type: 'email.complained', data: about(undefined, { to: [to] }) })
    expect(await app.outcomes(await app.send('order'))).toEqual([SUPPRESSED])
  })

  it('A channel that there is not is refused: a suppression of it would have no effect', async () => {
    const { suppressions } = consentApp().sallyport
    const refused = {
      code: 'option_invalid',
      problems: [{ field: 'channel', detail: expect.stringMatching(/^must be one of .*email/) }],
    }
    await expect(suppressions.add({ channel: 'Email', address: ADA })).rejects.toMatchObject(refused)
    await expect(suppressions.importCsv('email\n', { channel: 'fax' })).rejects.toMatchObject(refused)
  })

  it('A host adds, finds, lists and removes suppressions', async () => {
    const { sallyport, send, outcomes } = consentApp()
    const { suppressions } = sallyport
    expect(await suppressions.add({ channel: 'email', address: ADA })).toBe(true)
    expect(await suppressions.add({ channel: 'email', address: ADA })).toBe(false)
    expect(await outcomes(await send('code'))).toEqual([SUPPRESSED])
    const view = {
      ...{ channel: 'email', reason: 'manual', source: 'host', createdAt: '2027-01-15T12:00:00.000Z' },
      addressKey: expect.stringMatching(/^k1\.[\w-]{43}$/),
    }
    expect(await suppressions.find({ address: 'Ada@example.com' })).toEqual([view])
    expect(await suppressions.find({ address: ADA, channel: 'chat' })).toEqual([])
    expect(await suppressions.list({ reason: 'manual' })).toEqual({ items: [view] })
    expect(await suppressions.remove({ address: ADA, channel: 'chat' })).toEqual({ removed: 0 })
    expect(await suppressions.remove({ address: ADA })).toEqual({ removed: 1 })
    expect(await outcomes(await send('order'))).toEqual(['sent'])
  })

  it('A suppression of a category covers only its events', async () => {
    const app = consentApp()
    await app.sallyport.suppressions.add({
      channel: 'email',
      address: ADA,
      category: 'newsletter',
      expiresInMs: HOUR_MS,
    })
    expect(await outcomesOf(app)).toEqual({ order: 'sent', news: SUPPRESSED, code: 'sent' })
    app.clock.advance(HOUR_MS)
    expect(await outcomesOf(app)).toEqual(SENT)
  })

  it('A removed suppression does not return with a repeated report', async () => {
    const app = consentApp()
    await app.report(COMPLAINT)
    await app.sallyport.suppressions.remove({ address: ADA })
    await app.report(COMPLAINT)
    expect(await outcomesOf(app)).toEqual(SENT)
  })

  it('Suppressions of a retained key are found after a rotation; those of a removed key are not', async () => {
    const first = consentApp()
    await first.sallyport.suppressions.add({ channel: 'email', address: ADA })
    const over = (keys: readonly HashKey[]) => consentApp({ store: () => first.store, consenting: { keys } })
    const rotated = over([NEXT_KEY, KEY])
    expect((await rotated.sallyport.suppressions.find({ address: ADA })).length).toBe(1)
    expect(await rotated.outcomes(await rotated.send('order'))).toEqual([SUPPRESSED])
    expect(await over([NEXT_KEY]).sallyport.suppressions.find({ address: ADA })).toEqual([])
  })

  it('Suppressions are imported from CSV, exported, and imported again', async () => {
    const { sallyport, clock } = consentApp()
    const csv = [
      '\uFEFFEmail,Channel,Reason,Category,Expires At,Note',
      `${ADA},,,,,"a, ""quoted""\nnote"`,
      'eve@example.com,chat,complained,,,',
      'bob@example.com,,unsubscribed,newsletter,2027-02-01T00:00:00Z,',
      '',
      'x@example.com,,because,,,',
      ',,,,,',
      'y@example.com,,,,2026-01-01T00:00:00Z,',
      'z@example.com,,,,soon,',
      'too,few',
      'w@example.com,,,no category!,,',
      'v@example.com,fax,,,,',
    ].join('\r\n')
    const imported = await sallyport.suppressions.importCsv(csv, { channel: 'email' })
    expect(imported).toEqual({
      added: 3,
      problems: [
        { line: 4, detail: expect.stringContaining('reason') },
        { line: 5, detail: 'has no address' },
        { line: 6, detail: 'has expired' },
        { line: 7, detail: expect.stringContaining('expires_at') },
        { line: 8, detail: expect.stringContaining('columns') },
        { line: 9, detail: 'has no valid category' },
        { line: 10, detail: expect.stringMatching(/^has a channel that is not one of .*email/) },
      ],
    })
    expect(JSON.stringify(imported)).not.toContain('@')
    let exported = ''
    for await (const part of sallyport.suppressions.exportCsv()) exported += part
    expect(exported).not.toContain('example.com')
    const other = consentApp()
    other.clock.advance(clock.now() - other.clock.now())
    expect(await other.sallyport.suppressions.importCsv(exported)).toEqual({ added: 3, problems: [] })
    const found = await other.sallyport.suppressions.find({ address: 'bob@example.com' })
    expect(found).toMatchObject([
      { reason: 'unsubscribed', category: 'newsletter', expiresAt: '2027-02-01T00:00:00.000Z' },
    ])
    expect(await sallyport.suppressions.importCsv(exported)).toEqual({ added: 0, problems: [] })
  })

  it('A store that cannot be read before an attempt sends nothing, and the delivery is sent later', async () => {
    let isDown = false
    const app = consentApp({
      store: (store) =>
        aroundRecords(store, 'suppressions', { read: (run) => (isDown ? Promise.reject(new Error('down')) : run()) }),
    })
    await app.sallyport.dispatch({ eventType: 'order', recipient: ADA } as never)
    isDown = true
    await app.sallyport.worker.runDue()
    expect(app.email.sent).toEqual([])
    const [waiting] = (await app.sallyport.dispatches.list()).items
    expect(waiting?.deliveries).toMatchObject([{ status: 'queued', attempts: 0, waiting: { for: 'unavailable' } }])
    expect(app.logger.lines.map(({ event }) => event)).toContain('delivery.guard_unavailable')
    isDown = false
    app.clock.advance(HOUR_MS)
    await app.sallyport.worker.runDue()
    expect(app.email.sent).toHaveLength(1)
  })

  it('A store that cannot be read refuses a dispatch with 503 and sends nothing', async () => {
    let isDown = false
    const app = consentApp({
      store: (store) =>
        aroundRecords(store, 'suppressions', { read: (run) => (isDown ? Promise.reject(new Error('down')) : run()) }),
    })
    isDown = true
    const answer = await app.sallyport.dispatch({ eventType: 'order', recipient: ADA } as never)
    expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
    expect(app.email.sent).toEqual([])
  })

  it('A store that is not migrated yet refuses a dispatch with 503 for longer', async () => {
    const notReady = new SallyportError('config_invalid', 'migrate the database')
    const app = consentApp({
      store: (store) => aroundRecords(store, 'suppressions', { read: () => Promise.reject(notReady) }),
    })
    const answer = await app.sallyport.dispatch({ eventType: 'order', recipient: ADA } as never)
    expect(answer).toMatchObject({
      ...{ status: 503, headers: { 'retry-after': '30' }, body: { code: 'store_unavailable' } },
    })
  })
})

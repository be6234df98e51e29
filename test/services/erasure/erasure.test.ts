import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { type ErasureApp, eraseAll, erasureApp, fill, HOUR_MS, PERSON, secretsIn } from './erasing.ts'

function memoryApp(onSend?: () => Promise<void>): ErasureApp & { readonly advance: (ms: number) => void } {
  const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
  return { ...erasureApp(memoryStore({ clock }), clock, onSend), advance: (ms) => clock.advance(ms) }
}

describe('the export of a recipient', () => {
  it('An export has addresses, content and data', async () => {
    const app = memoryApp()
    const ids = await fill(app)
    const { dispatches, nextCursor } = await app.sallyport.dispatches.export({
      recipient: PERSON.id,
      limit: 500,
    })
    expect(dispatches.map(({ dispatchId }) => dispatchId)).toEqual(ids.filter((_, at) => at !== 1 && at !== 8))
    expect(dispatches[0]).toMatchObject({
      ...{ recipient: PERSON.id, locale: 'de-AT' },
      deliveries: [{ status: 'sent', address: PERSON.email, content: { text: 'Order 4711 for Ada King' } }],
    })
    const [digest] = dispatches.flatMap((one) => one.digests ?? [])
    expect(digest).toMatchObject({ recipient: PERSON, eventData: { title: 'Order 4711' } })
    expect(dispatches.flatMap(({ eventData }) => eventData ?? [])).toEqual([
      { title: 'Order 4711', street: 'Lovelace Road' },
    ])
    expect(nextCursor).toBeUndefined()
  })

  it('An address finds dispatches to it, also to a user id', async () => {
    const app = memoryApp()
    const ids = await fill(app)
    const { dispatches } = await app.sallyport.dispatches.export({ recipient: 'Ada.King@Example.COM', limit: 500 })
    expect(dispatches.map(({ dispatchId }) => dispatchId)).toEqual(ids.filter((_, at) => at !== 7))
    const byPhone = await app.sallyport.dispatches.export({ recipient: PERSON.phone })
    expect(byPhone.dispatches.map(({ eventType }) => eventType)).toEqual(['later', 'first'])
  })

  it('Pages have each dispatch once', async () => {
    const app = memoryApp()
    const ids = await fill(app)
    const found: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      pages++
      const options = { recipient: PERSON.email, limit: 2, ...(cursor !== undefined && { cursor }) }
      const page = await app.sallyport.dispatches.export(options)
      found.push(...page.dispatches.map(({ dispatchId }) => dispatchId))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(found).toEqual(ids.filter((_, at) => at !== 7))
    expect(pages).toBeGreaterThan(3)
  })

  it('The export of an unknown recipient, or of another tenant, is empty', async () => {
    const app = memoryApp()
    await fill(app)
    const { dispatches } = app.sallyport
    expect(await dispatches.export({ recipient: 'nobody' })).toEqual({ dispatches: [] })
    expect(await dispatches.export({ recipient: PERSON.id, tenant: 'other' })).toEqual({ dispatches: [] })
  })
})

describe('the erasure of a recipient', () => {
  it('An erasure cancels what is open, and nothing is sent any more', async () => {
    const app = memoryApp()
    const ids = await fill(app)
    const before = app.email.sent.length
    expect(await app.sallyport.dispatches.erase({ recipient: PERSON.id })).toEqual({
      ...{ dispatches: 7, cancelled: 5, answers: 2 },
    })
    app.advance(2 * HOUR_MS)
    await app.sallyport.worker.runDue()
    const sentTo = [...app.email.sent.slice(before), ...app.sms.sent].map(({ to }) => to)
    expect(sentTo.filter((to) => to !== 'grace@example.com')).toEqual([PERSON.email])
    const { items } = await app.sallyport.dispatches.list({ recipient: 'erased' })
    expect(items.map(({ dispatchId }) => dispatchId).sort()).toEqual(ids.filter((_, at) => at !== 1 && at !== 8).sort())
  })

  it('After an erasure, an export is empty and a repeated idempotency key sends nothing', async () => {
    const app = memoryApp()
    const [first, second] = await fill(app)
    await eraseAll(app)
    const sent = app.email.sent.length
    expect(await app.send('order', PERSON.id, 'order-1')).toBe(first)
    expect(await app.send('order', PERSON.email, 'order-2')).toBe(second)
    await app.sallyport.worker.runDue()
    expect(app.email.sent.slice(sent).map(({ to }) => to)).toEqual(['grace@example.com'])
    const left = await app.sallyport.dispatches.export({ recipient: PERSON.email })
    expect(left.dispatches).toEqual([])
    expect(secretsIn(JSON.stringify(left))).toEqual([])
    expect(secretsIn(JSON.stringify(await app.sallyport.dispatches.list()))).toEqual([])
  })

  it('Outcomes remain', async () => {
    const app = memoryApp()
    const [id = ''] = await fill(app)
    await eraseAll(app)
    expect(await app.sallyport.dispatches.get(id)).toMatchObject({
      ...{ eventType: 'order', status: 'sent', recipient: 'erased' },
      deliveries: [{ status: 'sent', attempts: 1, attemptLog: [{ outcome: 'sent' }] }],
    })
  })

  it('A delivery that is being sent is cancelled, and its worker can no longer store its end', async () => {
    const app: ErasureApp = memoryApp(async () => {
      await app.sallyport.dispatches.erase({ recipient: PERSON.email })
    })
    const dispatchId = await app.send('order', PERSON.email)
    await app.sallyport.worker.runDue()
    const dispatch = await app.sallyport.dispatches.get(dispatchId)
    expect(dispatch?.deliveries[0]).toMatchObject({ status: 'cancelled', attemptLog: [{ outcome: 'lost' }] })
    expect(app.logger.lines.map(({ event }) => event)).toContain('delivery.lease_lost')
  })

  it('An erasure with a limit reads so many dispatches and goes on where it ended', async () => {
    const app = memoryApp()
    await fill(app)
    let cursor: string | undefined
    let erased = 0
    let calls = 0
    do {
      const options = { recipient: PERSON.email, limit: 3, ...(cursor !== undefined && { cursor }) }
      const done = await app.sallyport.dispatches.erase(options)
      erased += done.dispatches
      calls++
      cursor = done.nextCursor
    } while (cursor !== undefined)
    expect(calls).toBe(4)
    expect(erased).toBe(8)
    expect(await app.sallyport.dispatches.erase({ recipient: PERSON.email })).toEqual({
      ...{ dispatches: 0, cancelled: 0, answers: 0 },
    })
  })

  it('The log has counts and no recipient', async () => {
    const app = memoryApp()
    await fill(app)
    await app.sallyport.dispatches.erase({ recipient: PERSON.email })
    const [line] = app.logger.lines.filter(({ event }) => event === 'recipient.erased')
    expect(line?.fields).toEqual({ dispatches: 8, cancelled: 6, answers: 3 })
    expect(secretsIn(JSON.stringify(app.logger.lines))).toEqual([])
  })

  it.each([
    {},
    { recipient: '' },
    { recipient: 1 },
    { recipient: 'a', limit: 0 },
    { recipient: 'a', cursor: 'x' },
    { recipient: 'a', tenant: 'ä' },
    { recipient: 'a', until: 1 },
  ])('Wrong options are refused and erase nothing: %j', async (options) => {
    const app = memoryApp()
    await fill(app)
    await expect(app.sallyport.dispatches.erase(options as never)).rejects.toMatchObject({ code: 'option_invalid' })
    await expect(app.sallyport.dispatches.export(options as never)).rejects.toMatchObject({ code: 'option_invalid' })
    expect((await app.sallyport.dispatches.list({ recipient: 'erased' })).items).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import type { ConsentApi } from '../../../src/plugins/consent/consent.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { eraseAll, erasureApp, fill, PERSON } from '../../services/erasure/erasing.ts'
import { fakeClock } from '../../support/fake-clock.ts'

function consentErasure() {
  const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
  const app = erasureApp(memoryStore({ clock }), clock)
  return { app, sallyport: app.sallyport as typeof app.sallyport & ConsentApi }
}

describe('consent of a recipient who is exported or erased', () => {
  it('An export has preferences and suppressions, on its first page only', async () => {
    const { app, sallyport } = consentErasure()
    await fill(app)
    await sallyport.suppressions.add({ channel: 'sms', address: PERSON.id })
    const first = await sallyport.dispatches.export({ recipient: PERSON.id, limit: 2 })
    expect(first.plugins).toMatchObject({
      consent: {
        preferences: { channels: { sms: true } },
        suppressions: [{ channel: 'sms' }, { channel: 'email', category: 'default' }],
      },
    })
    const second = await sallyport.dispatches.export({ recipient: PERSON.id, limit: 2, cursor: first.nextCursor })
    expect([second.dispatches.length, second.plugins]).toEqual([2, undefined])
  })

  it('An erasure removes the preferences of the recipient, and no others', async () => {
    const { app, sallyport } = consentErasure()
    await fill(app)
    await sallyport.dispatches.erase({ recipient: PERSON.id })
    expect(await sallyport.preferences.get(PERSON.id)).toBeUndefined()
    expect(await sallyport.preferences.get(PERSON.email)).toMatchObject({ channels: { sms: true } })
  })

  it('Suppressions remain', async () => {
    const { app, sallyport } = consentErasure()
    await sallyport.suppressions.add({ channel: 'email', address: PERSON.email })
    await eraseAll(app)
    expect(await sallyport.suppressions.find({ address: PERSON.email })).toHaveLength(1)
    await app.send('order', PERSON.email)
    await sallyport.worker.runDue()
    const { items } = await sallyport.dispatches.list({ recipient: PERSON.email })
    expect(items[0]?.deliveries[0]).toMatchObject({ status: 'skipped', reason: 'suppressed' })
  })
})

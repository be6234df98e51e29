import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { ADA, type ConsentApp, consentApp, KEY, NEXT_KEY } from './consenting.ts'

function appOfUsers(keys = [KEY]): ConsentApp {
  const email = recordingChannel(undefined, { address: ({ id }) => (id === 'u1' ? 'Ada@Example.com' : id) })
  return consentApp({ email, consenting: { keys } })
}

describe('the profile of a recipient', () => {
  it('A user id leads to its preferences, and to the addresses that its messages went to', async () => {
    const { sallyport, send } = appOfUsers()
    await send('both', 'u1')
    await send('order', 'u1')
    await sallyport.preferences.set('u1', { categories: { newsletter: false } })
    await sallyport.suppressions.add({ channel: 'email', address: ADA, reason: 'complained' })
    await sallyport.suppressions.add({ channel: 'chat', address: ADA })
    expect(await sallyport.dispatches.profile({ recipient: 'u1' })).toMatchObject({
      preferences: { categories: { newsletter: false } },
      addresses: [
        { channel: 'email', address: 'A…@Example.com', suppressions: [{ channel: 'email', reason: 'complained' }] },
      ],
    })
  })

  it('An address has its suppressions on all channels, also without a dispatch', async () => {
    const { sallyport } = consentApp()
    await sallyport.suppressions.add({ channel: 'chat', address: ADA })
    expect(await sallyport.dispatches.profile({ recipient: ADA })).toMatchObject({
      addresses: [{ channel: 'chat', address: 'a…@example.com', suppressions: [{ reason: 'manual' }] }],
    })
  })

  it('A suppression under an earlier key is found, one of another tenant is not', async () => {
    const store = memoryStore()
    const shared = { rest: { store } }
    await consentApp(shared).sallyport.suppressions.add({ channel: 'email', address: ADA })
    const { sallyport } = consentApp({ rest: { store }, consenting: { keys: [NEXT_KEY, KEY] } })
    const ofTenant = async (tenant: string) =>
      (await sallyport.dispatches.profile({ recipient: ADA, tenant })).addresses
    expect(await ofTenant('default')).toHaveLength(1)
    expect(await ofTenant('other')).toEqual([])
  })
})

import { generateAppSecret } from 'sallyport/auth'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { codeAfter, removeModules } from '../../docs/migrating-code.ts'

const { secret } = await generateAppSecret({ env: 'test' })
const KEY = '0'.repeat(43)

beforeAll(() => {
  vi.stubEnv('APP_SECRET', secret)
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})
afterAll(removeModules)

describe('from Novu', () => {
  it('Followers get one digest each, and a repeated comment is one dispatch', async () => {
    const { outbound, onComment } = await codeAfter('novu.md')
    const sallyport = outbound(KEY)
    for (const id of ['c1', 'c2', 'c2']) await onComment(sallyport, id, 'P-1', 'Bob')
    const { items } = await sallyport.dispatches.list()
    expect(items).toHaveLength(2)
    const { deliveries } = await sallyport.dispatches.get(items[0].dispatchId)
    expect(deliveries).toMatchObject([{ channel: 'email', status: 'queued', waiting: { for: 'digest' } }])
  })

  it.each([
    ['a channel that is off globally, whatever a workflow says', { email: false }, { 'trial.ends': { email: true } }],
    ['a workflow that is off', { email: true }, { 'trial.ends': { email: false } }],
  ])('Imported preferences refuse %s', async (_, globally, byEvent) => {
    const { outbound, importPreferences } = await codeAfter('novu.md')
    const sallyport = outbound(KEY)
    await importPreferences(sallyport, 'user_1', globally, byEvent)
    const { dispatchId } = await sallyport.dispatchOrThrow({ eventType: 'trial.ends', recipient: 'user_1' })
    expect((await sallyport.dispatches.get(dispatchId)).deliveries).toMatchObject([{ reason: 'opted_out' }])
  })
})

describe('from Knock', () => {
  const COMMENT = { id: 'c1', post: 'P-1', author: 'user_2', text: 'Hello' }

  it('Each follower but the author gets a dispatch of the tenant, once, which can be cancelled', async () => {
    const { outbound, newComment, removeComment } = await codeAfter('knock.md')
    const sallyport = outbound(KEY)
    const ids = await newComment(sallyport, COMMENT, ['user_1', 'user_2'])
    expect(await newComment(sallyport, COMMENT, ['user_1', 'user_2'])).toEqual(ids)
    await removeComment(sallyport, ids)
    const { items } = await sallyport.dispatches.list({ tenant: 'acme' })
    expect(items).toMatchObject([{ recipient: 'user_1', status: 'cancelled' }])
  })

  it.each([
    ['a channel type that is off', { channel_types: { email: false }, workflows: { 'new-comment': true } }],
    ['a workflow that is off', { workflows: { 'new-comment': false } }],
    ['a channel type of a workflow', { workflows: { 'new-comment': { channel_types: { email: false } } } }],
    ['a category that is off', { categories: { 'new-comment': false }, channel_types: { email: true } }],
  ])('Imported preferences refuse %s', async (_, set) => {
    const { outbound, newComment, importPreferences } = await codeAfter('knock.md')
    const sallyport = outbound(KEY)
    await importPreferences(sallyport, 'user_1', set)
    await newComment(sallyport, COMMENT, ['user_1'])
    const { items } = await sallyport.dispatches.list({ tenant: 'acme', reason: 'opted_out' })
    expect(items).toHaveLength(1)
  })

  it('Imported preferences without a refusal refuse nothing', async () => {
    const { outbound, newComment, importPreferences } = await codeAfter('knock.md')
    const sallyport = outbound(KEY)
    await importPreferences(sallyport, 'user_1', { channel_types: { email: true, sms: false }, workflows: {} })
    await newComment(sallyport, COMMENT, ['user_1'])
    expect((await sallyport.dispatches.list({ tenant: 'acme', reason: 'opted_out' })).items).toEqual([])
  })
})

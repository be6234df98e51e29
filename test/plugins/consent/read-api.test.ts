import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Operation } from '../../../src/model/principal.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { jsonOf } from '../../openapi/posting.ts'
import { recordingLogger } from '../../support/deps.ts'
import { everyPlugin } from '../../support/every-plugin.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const SUPPRESSIONS = '/api/outbound/suppressions'

/** A caller whose token is the operation that it may do. */
function caller(plugins = everyPlugin()) {
  const sallyport = createSallyport({
    auth: { verify: async (token) => ({ id: token, tenant: 'default', operations: [token as Operation] }) },
    ...{ events: defineEvents({ news: { channels: { email: {} } } }), channels: { email: recordingChannel() } },
    ...{ store: memoryStore(), logger: recordingLogger(), plugins },
  })
  const answer = toFetch(sallyport)
  return async (path: string, token: Operation, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const answered = await answer(new Request(`http://shop.test${SUPPRESSIONS}${path}`, init))
    return { status: answered.status, json: await jsonOf(answered) }
  }
}

describe('suppressions over HTTP', () => {
  it('A suppression is added, listed, found and removed', async () => {
    const ask = caller()
    const of = { channel: 'email', address: 'jane@example.com' }
    expect((await ask('/add', 'manage', { ...of, reason: 'complained' })).json).toEqual({ added: true })
    expect((await ask('/add', 'manage', { ...of, reason: 'complained' })).json).toEqual({ added: false })
    expect((await ask('?reason=complained', 'read')).json).toMatchObject({ items: [{ reason: 'complained' }] })
    expect((await ask('/find', 'read', of)).json).toMatchObject({ items: [{ channel: 'email' }] })
    expect((await ask('/remove', 'manage', { address: of.address })).json).toEqual({ removed: 1 })
    expect((await ask('', 'read')).json).toEqual({ items: [] })
    expect((await ask('/add', 'manage', { channel: 'email' })).json).toMatchObject({
      errors: [{ pointer: '/address' }],
    })
  })

  it('A caller who may only read adds none', async () => {
    const { status, json } = await caller()('/add', 'read', {})
    expect([status, json.code]).toEqual([403, 'insufficient_scope'])
  })

  it('A host without the plugin has no suppressions', async () => {
    expect((await caller([])('', 'read')).status).toBe(404)
  })
})

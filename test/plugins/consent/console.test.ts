import { describe, expect, it } from 'vitest'
import { SUPPRESSION_ACTIONS } from '../../../src/plugins/consent/actions.ts'
import { opened } from '../../console/opened.ts'
import { jsonOf } from '../../openapi/posting.ts'

const ADDRESS = { channel: 'email', address: 'new@example.com' }

describe('suppressions in the console', () => {
  it('With read an address is looked up', async () => {
    const { post } = await opened({ access: () => 'read' })
    const answer = await post('/api/outbound/suppressions/find', { address: 'bad@example.com' })
    expect([answer.status, Object(await jsonOf(answer)).items]).toMatchObject([200, [{ channel: 'email' }]])
  })

  it('Two tenants do not see the suppressions of one another', async () => {
    const { get } = await opened({ access: () => ({ access: 'operate', tenant: 'other' }) })
    expect(await (await get('/api/outbound/suppressions')).json()).toEqual({ items: [] })
  })

  it('Each change is told once, with its user and the address, and a look-up is not', async () => {
    const changes: unknown[] = []
    const { post } = await opened({
      access: () => ({ access: 'operate', user: 'Ada' }),
      onChange: (change) => changes.push(change),
    })
    // Each is asked for twice: the second request changes nothing.
    for (const [path, body] of [
      ['add', { ...ADDRESS, reason: 'complained' }],
      ['remove', ADDRESS],
    ] as const)
      for (const _ of [1, 2]) expect((await post(`/api/outbound/suppressions/${path}`, body)).status).toBe(200)
    await post('/api/outbound/suppressions/find', ADDRESS)
    const by = { user: 'Ada', tenant: 'default', count: 1 }
    expect(changes).toEqual([
      { action: 'add_suppression', ...by, ...ADDRESS, reason: 'complained' },
      { action: 'remove_suppressions', ...by, ...ADDRESS },
    ])
    const managing = SUPPRESSION_ACTIONS.filter(({ operation }) => operation === 'manage').map(({ name }) => name)
    expect(changes.map((told) => Object(told).action)).toEqual(managing)
  })
})

import type { DispatchStatus } from '../../model/dispatch.ts'
import { equal, ok } from '../assertions.ts'
import { broken, delivery, digested, HOUR, MINUTE, proof, REJECTED, SENT, skipped, TENANT } from './samples.ts'
import { acceptAll, type DispatchCase, dispatchCases, type Query } from './store-harness.ts'

export const listCases: readonly DispatchCase[] = dispatchCases([], {
  'listDispatches returns whole dispatches, newest first': async (t) => {
    const head = { sessionId: 's1', locale: 'de', critical: true } as const
    await acceptAll(t, {
      one: {},
      two: { ...head, deliveries: [delivery('x'), digested('y', {}, { channel: 'b' })] },
      three: {},
    })
    const { items } = await t.other.listDispatches({ tenant: TENANT, limit: 100 })
    equal(items, [await t.found('three'), await t.found('two'), await t.found('one')])
  },
  'findByDelivery finds the dispatch of a delivery': async (t) => {
    await acceptAll(t, { one: { deliveries: [delivery('x'), delivery('y')] }, two: { deliveries: [delivery('z')] } })
    equal(await t.store.findByDelivery(TENANT, 'y'), await t.found('one'))
    equal(await t.other.findByDelivery(TENANT, 'z'), await t.found('two'))
    equal(await t.store.findByDelivery('t2', 'y'), undefined)
    equal(await t.store.findByDelivery(TENANT, 'one'), undefined)
  },
  'findByDelivery finds a delivery that had no content or was erased': async (t) => {
    const skipped = { deliveryId: 'skipped', channel: 'a', status: 'skipped', reason: 'no_address' } as const
    const failed = { deliveryId: 'failed', channel: 'b', status: 'failed', reason: 'template_error' } as const
    await acceptAll(t, { one: { deliveries: [skipped, failed] }, two: { deliveries: [delivery('erased')] } })
    for (const { deliveryId } of [skipped, failed])
      equal(await t.store.findByDelivery(TENANT, deliveryId), await t.found('one'), deliveryId)
    await t.send()
    await t.store.eraseDispatch(TENANT, 'two')
    equal(await t.store.findByDelivery(TENANT, 'erased'), await t.found('two'))
  },
  'findByDelivery finds a dispatch of a shared digest': async (t) => {
    await t.accept('one', { deliveries: [digested('x')] })
    await t.accept('two', { deliveries: [digested('y')] })
    const found = await t.store.findByDelivery(TENANT, 'x')
    ok(found?.dispatchId === 'one' || found?.dispatchId === 'two', 'a dispatch of the digest is found')
    equal(found, await t.found(found.dispatchId))
  },
  'listDispatches returns the dispatches with a delivery of a channel': async (t) => {
    await acceptAll(t, {
      one: { deliveries: [delivery('a1', { channel: 'email' }), delivery('a2', { channel: 'sms' })] },
      two: { deliveries: [delivery('b1', { channel: 'sms' })], sessionId: 's1' },
      three: { deliveries: [{ ...skipped('c1'), channel: 'email' }], eventType: 'f' },
    })
    equal(await t.list({ channel: 'email' }), ['three', 'one'])
    equal(await t.list({ channel: 'sms' }), ['two', 'one'])
    equal(await t.list({ channel: 'sms', first: 'oldest', limit: 1 }), ['one', 'two'])
    equal(await t.list({ channel: 'fax' }), [])
    equal(await t.list({ channel: 'email', status: 'queued' }), ['one'])
    equal(await t.list({ channel: 'email', eventType: 'f' }), ['three'])
    equal(await t.list({ channel: 'email', sessionId: 's1' }), [])
  },
  'listDispatches returns all dispatches of a digest of a channel': async (t) => {
    await acceptAll(t, { one: { deliveries: [digested('x')] }, two: { deliveries: [digested('y')] } })
    const { channel } = (await t.found('one'))?.deliveries[0] ?? {}
    equal(await t.list({ channel }), ['two', 'one'])
    equal(await t.list({ channel: `${channel}x` }), [])
  },
  'listDispatches returns the dispatches with a delivery of a reason': async (t) => {
    await acceptAll(t, {
      one: { deliveries: [{ ...skipped('a1'), channel: 'email' }, delivery('a2', { channel: 'sms' })] },
      two: { deliveries: [broken('b1', { channel: 'sms' })], sessionId: 's1' },
      three: { deliveries: [skipped('c1'), skipped('c2')], eventType: 'f' },
      four: { deliveries: [delivery('d1', { channel: 'late' })], expiresInMs: HOUR },
      five: { tenant: 't2', deliveries: [skipped('e1')] },
    })
    equal(await t.list({ reason: 'condition_false' }), ['three', 'one'])
    equal(await t.list({ reason: 'condition_false', first: 'oldest', limit: 1 }), ['one', 'three'])
    equal(await t.list({ reason: 'template_error' }), ['two'])
    equal(await t.list({ reason: 'suppressed' }), [])
    equal(await t.list({ reason: 'condition_false', eventType: 'f' }), ['three'])
    equal(await t.list({ reason: 'condition_false', status: 'queued' }), ['one'])
    equal(await t.list({ reason: 'template_error', sessionId: 's1' }), ['two'])
    equal(await t.list({ reason: 'expired' }), [])
    await t.advance(2 * HOUR)
    await t.claim({ late: 9 })
    equal(await t.list({ reason: 'expired' }), ['four'])
  },
  'a filter by channel and reason finds one delivery with both': async (t) => {
    await acceptAll(t, {
      one: { deliveries: [{ ...skipped('a1'), channel: 'email' }, delivery('a2', { channel: 'sms' })] },
    })
    equal(await t.list({ channel: 'email', reason: 'condition_false' }), ['one'])
    equal(await t.list({ channel: 'sms', reason: 'condition_false' }), [])
  },
  'listDispatches returns all dispatches of a digest of a reason': async (t) => {
    for (const id of ['1', '2']) await t.accept(id, { deliveries: [digested(id)] })
    await t.accept('3', { deliveries: [delivery('3', { channel: 'other' })] })
    await t.advance(2 * HOUR)
    const claimed = await t.claimOne()
    await t.store.settle({ ...proof(claimed), to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
    equal((await t.list({ reason: 'provider_rejected' })).sort(), ['1', '2'])
  },
  'listDispatches can begin with the oldest': async (t) => {
    await acceptAll(t, { one: {}, two: {}, three: {} })
    equal(await t.list({ first: 'oldest' }), ['one', 'two', 'three'])
    equal(await t.list({ first: 'newest' }), ['three', 'two', 'one'])
    equal(await t.list({ first: undefined }), ['three', 'two', 'one'])
  },
  'listDispatches returns the dispatches of one tenant': async (t) => {
    await acceptAll(t, { one: {}, two: { tenant: 't2', sessionId: 's1' }, three: { sessionId: 's1' } })
    equal(await t.list(), ['three', 'one'])
    equal(await t.list({ tenant: 't2' }), ['two'])
    equal(await t.list({ sessionId: 's1' }), ['three'])
    equal(await t.list({ tenant: 't3' }), [])
    equal(await t.list({ tenant: 't2', eventType: 'e', status: 'queued' }), ['two'])
  },
  'listDispatches returns the dispatches that fit all filters': async (t) => {
    await acceptAll(t, {
      1: { eventType: 'e', recipient: 'r', sessionId: 's' },
      2: { eventType: 'f', recipient: 'r', sessionId: 's' },
      3: { eventType: 'e', recipient: 'q', sessionId: 's' },
      4: { eventType: 'e', recipient: 'r' },
      5: { eventType: 'e', recipient: 'r', sessionId: 't' },
    })
    await t.cancel('5')
    const fits: readonly (readonly [Query, string])[] = [
      [{ eventType: 'e' }, '5431'],
      [{ recipient: 'r' }, '5421'],
      [{ sessionId: 's' }, '321'],
      [{ status: 'queued' }, '4321'],
      [{ eventType: 'e', recipient: 'r' }, '541'],
      [{ eventType: 'e', recipient: 'r', sessionId: 's' }, '1'],
      [{ eventType: 'e', recipient: 'r', status: 'cancelled' }, '5'],
      [{ recipient: 'r', status: 'queued', first: 'oldest' }, '124'],
      [{ eventType: 'none' }, ''],
      [{ eventType: undefined, recipient: undefined, sessionId: undefined, status: undefined }, '54321'],
    ]
    for (const [query, ids] of fits) equal(await t.list(query), [...ids], JSON.stringify(query))
  },
  'since is inclusive and until is exclusive': async (t) => {
    await acceptAll(t, { 1: {}, 2: {}, 3: {}, 4: {} })
    const at: number[] = []
    for (const id of ['1', '2', '3', '4']) at.push((await t.found(id)).createdAt)
    const [, second = 0, , fourth = 0] = at
    equal(await t.list({ since: second }), ['4', '3', '2'])
    equal(await t.list({ since: second + 1 }), ['4', '3'])
    equal(await t.list({ until: second }), ['1'])
    equal(await t.list({ until: second + 1 }), ['2', '1'])
    equal(await t.list({ since: second, until: fourth, first: 'oldest' }), ['2', '3'])
    equal(await t.list({ since: second, until: second }), [])
    equal(await t.list({ since: undefined, until: undefined }), ['4', '3', '2', '1'])
  },
  'listDispatches filters by the current status': async (t) => {
    const pair = (id: string, status: 'queued' | 'held' = 'queued') => ({
      deliveries: [delivery(`${id}-a`), delivery(`${id}-b`, { channel: 'b', status })],
    })
    await t.accept('partial', pair('partial'))
    await t.fail()
    await t.advance(1)
    await t.accept('first', { route: 'first', ...pair('first', 'held') })
    await t.fail()
    await t.accept('cancelled')
    await t.cancel('cancelled')
    await t.accept('skipped', { deliveries: [delivery('s', { status: 'skipped', reason: 'condition_false' })] })
    await t.accept('failed', { deliveries: [delivery('f', { status: 'failed', reason: 'template_error' })] })
    await t.accept('sent')
    await t.send()
    for (const status of ['partial', 'cancelled', 'skipped', 'failed', 'sent'] as const)
      equal(await t.list({ status }), [status])
    const check = async (status: DispatchStatus, ids: readonly string[]) =>
      equal((await t.list({ status })).sort(), ids, status)
    await check('queued', ['first'])
    for (let left = 2; left > 0; left--) {
      const claimed = await t.claimOne('b')
      await check('queued', ['first'])
      await t.store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
    }
    await check('partial', ['partial'])
    await check('sent', ['first', 'sent'])
    await t.retry('failed', { expiresInMs: MINUTE })
    await check('queued', ['failed'])
    await check('failed', [])
  },
  'listDispatches filters a dispatch by its own part of a digest': async (t) => {
    for (const id of ['1', '2']) await t.accept(id, { deliveries: [digested(id)] })
    await t.cancel('1')
    equal(await t.list({ status: 'cancelled' }), ['1'])
    equal(await t.list({ status: 'queued' }), ['2'])
  },
})

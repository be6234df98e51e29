import { equal, matches } from '../assertions.ts'
import { ADDRESS, delivery, digested, HOUR, keyed, MARGIN, MINUTE, proof, SENT, TENANT } from './samples.ts'
import { between, byId, claimOf, type DispatchCase, dispatchCases, idsOf, numbers, timed } from './store-harness.ts'

const first = 'first'
const pair = (rest = {}) => [delivery('x', rest), delivery('y', { channel: 'b', status: 'held' })]

export const expiryCases: readonly DispatchCase[] = dispatchCases([], {
  'claim expires a delivery past its expiry, and does not hand it out': async (t) => {
    await t.accept('1', { ...keyed(), expiresInMs: HOUR, sessionId: 's1' })
    const { createdAt } = await t.found('1')
    await t.advance(HOUR)
    const { deliveries, expired } = await t.claim()
    equal(deliveries, [])
    const head = { dispatchId: '1', tenant: TENANT, by: 'app_1', eventType: 'e', recipient: ADDRESS, route: 'all' }
    const dispatch = { ...head, sessionId: 's1', createdAt }
    equal(expired, [{ deliveryId: '1-a', channel: 'a', status: 'expired', attempts: 0, dispatch }])
    equal(await t.states('1'), ['expired'])
    matches(await t.only('1'), { dueAt: undefined })
  },
  'held deliveries expire with the one before them': async (t) => {
    await t.accept('1', { route: first, deliveries: pair(), expiresInMs: HOUR })
    await t.advance(HOUR)
    matches(byId((await t.claim()).expired), [
      { deliveryId: 'x', channel: 'a', status: 'expired', attempts: 0, dispatch: { dispatchId: '1' } },
      { deliveryId: 'y', channel: 'b', status: 'expired', attempts: 0, dispatch: { dispatchId: '1' } },
    ])
    equal(await t.states('1'), ['expired', 'expired'])
  },
  'claim reports an expired delivery once': async (t) => {
    await t.accept('1', { route: first, deliveries: pair(), expiresInMs: HOUR })
    await t.advance(HOUR)
    equal((await t.claim()).expired.length, 2)
    matches(await t.claim({ a: 9, b: 9 }), { deliveries: [], expired: [] })
  },
  'deliveries of channels that no claim names expire': async (t) => {
    for (const channel of ['gone', 'lost'])
      await t.accept(channel, { deliveries: [delivery(channel, { channel })], expiresInMs: HOUR })
    await t.advance(HOUR)
    equal(idsOf((await t.claim({})).expired), ['gone', 'lost'])
    equal([await t.states('gone'), await t.states('lost')], [['expired'], ['expired']])
  },
  'a delivery of a busy receiver expires in time behind one that expires later': async (t) => {
    for (const [id, expiresInMs] of Object.entries({ later: HOUR, sooner: MINUTE }))
      await t.accept(id, { deliveries: [delivery(id, { concurrencyKey: 'dead' })], expiresInMs })
    const busy = [{ channel: 'a', concurrencyKey: 'dead', tenant: TENANT }]
    const claim = async () => idsOf((await t.store.claim(claimOf({ a: 9 }, { busy }))).expired)
    equal(await claim(), [])
    await t.advance(MINUTE)
    equal(await claim(), ['sooner'])
    await t.advance(HOUR)
    equal(await claim(), ['later'])
  },
  'deliveries of busy receivers, and of channels with the limit 0, expire': async (t) => {
    await t.accept('1', { deliveries: [delivery('x', { concurrencyKey: 'dead' })], expiresInMs: HOUR })
    await t.accept('2', { deliveries: [delivery('y', { channel: 'b' })], expiresInMs: HOUR })
    await t.advance(HOUR)
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    const { expired } = await t.store.claim(claimOf({ a: 9, b: 0 }, { busy }))
    equal(idsOf(expired), ['x', 'y'])
    equal([await t.states('1'), await t.states('2')], [['expired'], ['expired']])
  },
  'expired deliveries do not count towards the limit of a claim': async (t) => {
    for (const id of ['1', '2', '3']) await t.accept(id, { expiresInMs: HOUR })
    await t.advance(HOUR)
    await t.accept('4')
    const { deliveries, expired } = await t.claim({ a: 1 })
    equal([idsOf(deliveries), idsOf(expired)], [['4-a'], ['1-a', '2-a', '3-a']])
  },
  'a claim that leaves expired deliveries to the next one says that more are due': async (t) => {
    const ids = numbers(60).map((at) => `${at}`)
    for (const id of ids) await t.accept(id, { deliveries: [delivery(id, { channel: 'gone' })], expiresInMs: HOUR })
    await t.advance(HOUR)
    const found: string[] = []
    for (const _ of ids) {
      const { expired, nextDueInMs } = await t.claim()
      found.push(...idsOf(expired))
      if (nextDueInMs !== 0) break
    }
    equal(found.sort(), ids.sort())
  },
  'a delivery that is being sent expires only after its lease': async (t) => {
    await t.accept('1', { expiresInMs: MINUTE })
    const claimed = await t.claimOne('a', HOUR)
    await t.advance(HOUR - MARGIN)
    equal((await t.claim()).expired, [])
    equal(await t.store.renew(proof(claimed), HOUR), true)
    await t.advance(HOUR - MARGIN)
    equal((await t.claim()).expired, [])
    equal(await t.states('1'), ['sending'])
    await t.advance(MARGIN)
    matches((await t.claim()).expired, [{ deliveryId: '1-a', attempts: 1 }])
  },
  'settle and renew refuse the worker of an expired delivery': async (t) => {
    await t.accept('1', { expiresInMs: MINUTE })
    const claimed = await t.claimOne('a', MINUTE)
    await t.advance(MINUTE)
    await t.claim()
    const before = await t.found('1')
    equal(await t.other.settle({ ...proof(claimed), to: 'sent', attempt: SENT }), { live: false })
    equal(await t.store.renew(proof(claimed), MINUTE), false)
    equal(await t.found('1'), before)
  },
  'a digest expires in all its dispatches': async (t) => {
    for (const id of ['1', '2']) await t.accept(id, { deliveries: [digested(id)], expiresInMs: HOUR })
    await t.advance(2 * HOUR)
    equal(idsOf((await t.claim()).expired), ['1'])
    equal([await t.states('1'), await t.states('2')], [['expired'], ['expired']])
  },
  'the expiry of a delivery counts from its first due time': async (t) => {
    const post = () => t.accept('1', { deliveries: [delivery('x', { delayMs: 5 * HOUR })], expiresInMs: HOUR })
    const accepted = await timed(t, post)
    await t.advance(6 * HOUR - MINUTE)
    const { value, from, to } = await timed(t, () => t.claimOne('a', MINUTE))
    const left = (now: number, since: number) => 6 * HOUR - (now - since)
    between(value.expiresInMs, left(to, accepted.from), left(from, accepted.to), 'expiresInMs')
    await t.advance(MINUTE)
    equal(idsOf((await t.claim()).expired), ['x'])
  },
  'a held delivery expires when the first of its route does': async (t) => {
    await t.accept('1', { route: first, deliveries: pair({ delayMs: 5 * HOUR }), expiresInMs: HOUR })
    await t.advance(6 * HOUR - MINUTE)
    await t.fail()
    const { expiresInMs, deliveryId } = await t.claimOne('b', MINUTE)
    equal(deliveryId, 'y')
    between(expiresInMs, MINUTE - MARGIN, MINUTE, 'expiresInMs')
    await t.advance(MINUTE)
    equal(idsOf((await t.claim({ b: 9 })).expired), ['y'])
  },
  'a retry after a failed attempt does not extend the expiry': async (t) => {
    await t.accept('1', { expiresInMs: HOUR })
    const attempt = { outcome: 'retry', code: 'busy' } as const
    await t.settleNext({ to: 'queued', delayMs: HOUR, attempt })
    await t.advance(HOUR)
    const { deliveries, expired } = await t.claim()
    equal(deliveries, [])
    matches(expired, [{ deliveryId: '1-a', attempts: 1, status: 'expired' }])
  },
  'a digest expires with the last of its events': async (t) => {
    for (const [id, expiresInMs] of Object.entries({ 1: MINUTE, 2: 5 * HOUR, 3: MINUTE }))
      await t.accept(id, { deliveries: [digested(id)], expiresInMs })
    await t.advance(HOUR)
    await t.settleNext({ to: 'queued', delayMs: 4 * HOUR })
    await t.advance(4 * HOUR)
    matches(await t.claimOne(), { deliveryId: '1', digest: { events: [{}, {}, {}] } })
  },
})

import type { Dispatch, DispatchAnswer } from '../../model/dispatch.ts'
import { equal, matches } from '../assertions.ts'
import {
  ADDRESS,
  acceptance,
  answerOf,
  delivery,
  digested,
  everyKind,
  HOUR,
  keyed,
  LEASE,
  MINUTE,
  proof,
  spoil,
  TENANT,
} from './samples.ts'
import { type DispatchCase, dispatchCases } from './store-harness.ts'

export const copyCases: readonly DispatchCase[] = dispatchCases([], {
  'changing an acceptance afterwards does not change the stored dispatch': async (t) => {
    const given = acceptance('1', { ...keyed(), deliveries: everyKind() })
    await t.store.accept(given)
    const before = await t.found('1')
    spoil(given)
    equal(await t.found('1'), before)
    matches(await t.store.recall(TENANT, 'k'), { fingerprint: 'f1', answer: { dispatchId: '1' } })
    const [claimed] = (await t.claim()).deliveries
    matches(claimed, { deliveryId: 'x', content: { data: { list: [{ a: 1 }] } } })
  },
  'changing an acceptance afterwards does not change the limits of held deliveries': async (t) => {
    const limits = () => [{ key: 'l', max: 1, windowMs: HOUR }]
    await t.accept('1', { deliveries: [delivery('x', { channel: 'b', limits: limits() })] })
    const deliveries = [delivery('y'), delivery('z', { channel: 'c', status: 'held', limits: limits() })]
    const given = acceptance('2', { route: 'first', deliveries })
    await t.store.accept(given)
    spoil(given)
    await t.fail()
    equal(await t.states('2'), ['failed provider_rejected', 'skipped throttled'])
  },
  'changing an acceptance afterwards does not change a digest': async (t) => {
    const [opened] = everyKind().slice(-1)
    const given = acceptance('1', { deliveries: opened ? [opened] : [] })
    await t.store.accept(given)
    spoil(given)
    await t.accept('2', { deliveries: [digested('e', {}, { channel: 'd' })] })
    await t.advance(HOUR)
    const claimed = await t.claimOne('d')
    const { digest } = structuredClone(claimed)
    spoil(claimed)
    await t.advance(LEASE)
    equal((await t.claimOne('d')).digest, digest, 'changing a claimed digest does not change the stored one')
    matches(digest, {
      recipient: { id: ADDRESS, attributes: { tags: ['a'] } },
      events: [{ dispatchId: '1', eventData: { list: [1] } }, { eventData: { of: 'e' } }],
    })
  },
  'changing a result of a read does not change the stored dispatch': async (t) => {
    const answer = (dispatch: Dispatch): DispatchAnswer => ({
      ...answerOf(dispatch),
      deliveries: dispatch.deliveries.map(({ attemptLog: _, ...rest }) => rest),
    })
    const accepted = await t.accept('1', { ...keyed(), deliveries: everyKind(), answer })
    const first = structuredClone('answer' in accepted && accepted.answer)
    const before = structuredClone(await t.store.findDispatch(TENANT, '1'))
    spoil(accepted)
    for (const handle of [t.store, t.other]) {
      spoil(await handle.findDispatch(TENANT, '1'))
      spoil(await handle.listDispatches({ tenant: TENANT, limit: 5 }))
      spoil(await handle.recall(TENANT, 'k'))
      spoil(await handle.accept(acceptance('2', keyed())))
      equal(await handle.findDispatch(TENANT, '1'), before)
      equal(await handle.recall(TENANT, 'k'), { fingerprint: 'f1', answer: first })
    }
  },
  'changing a claimed delivery does not change the stored one': async (t) => {
    await t.accept('1', { deliveries: [delivery('x', { content: { data: { list: [1] } } })] })
    const first = await t.claimOne()
    const before = structuredClone([first.content, first.dispatch])
    const stored = await t.found('1')
    spoil(first)
    equal(await t.found('1'), stored)
    await t.advance(LEASE)
    const again = await t.claimOne()
    equal([again.content, again.dispatch], before)
    const history = structuredClone(again.history)
    spoil(again.history)
    await t.advance(LEASE)
    const third = await t.claimOne()
    equal(third.history.slice(0, 1), history)
  },
  'changing a result of cancel, retry or claim does not change the stored dispatch': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b', delayMs: HOUR })] })
    await t.fail()
    spoil(await t.cancel('1'))
    equal(await t.states('1'), ['failed provider_rejected', 'cancelled'])
    spoil(await t.retry('1', { expiresInMs: MINUTE }))
    equal(await t.states('1'), ['queued', 'cancelled'])
    await t.advance(MINUTE)
    spoil((await t.claim()).expired)
    matches(await t.only('1'), { deliveryId: 'x', status: 'expired', attempts: 1 })
    matches(await t.found('1'), { dispatchId: '1', eventType: 'e', deliveries: [{ channel: 'a' }, {}] })
  },
  'changing a settlement afterwards does not change the stored delivery': async (t) => {
    await t.accept('1', { deliveries: [digested('x', {}, { delayMs: 0 })] })
    const settlement = {
      ...proof(await t.claimOne()),
      to: 'queued',
      delayMs: 0,
      content: { data: { list: [1] } },
      attempt: { outcome: 'retry', code: 'busy', provider: 'p1' },
    } as const
    await t.store.settle(settlement)
    spoil(settlement)
    matches(await t.only('1'), {
      content: { data: { list: [1] } },
      attemptLog: [{ outcome: 'retry', code: 'busy', provider: 'p1' }],
    })
  },
})

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
import { contractCase, type DispatchCase } from './store-harness.ts'

/** Nothing that is stored is aliased. */
export function copyingCases(): readonly DispatchCase[] {
  return [
    contractCase('what is stored does not change with what was given', async ({ store, found, claim }) => {
      const given = acceptance('1', { ...keyed(), deliveries: everyKind() })
      await store.accept(given)
      const before = await found('1')
      spoil(given)
      equal(await found('1'), before)
      matches(await store.recall(TENANT, 'k'), { fingerprint: 'f1', answer: { dispatchId: '1' } })
      const [claimed] = (await claim()).deliveries
      matches(claimed, { deliveryId: 'x', content: { data: { list: [{ a: 1 }] } } })
    }),

    contractCase('the limits of what is held do not change with what was given', async (harness) => {
      const { store, accept, fail, states } = harness
      const limits = () => [{ key: 'l', max: 1, windowMs: HOUR }]
      await accept('1', { deliveries: [delivery('x', { channel: 'b', limits: limits() })] })
      const deliveries = [delivery('y'), delivery('z', { channel: 'c', status: 'held', limits: limits() })]
      const given = acceptance('2', { route: 'first', deliveries })
      await store.accept(given)
      spoil(given)
      await fail()
      equal(await states('2'), ['failed provider_rejected', 'skipped throttled'])
    }),

    contractCase('a digest does not change with what was given', async ({ store, accept, advance, claimOne }) => {
      const [opened] = everyKind().slice(-1)
      const given = acceptance('1', { deliveries: opened ? [opened] : [] })
      await store.accept(given)
      spoil(given)
      await accept('2', { deliveries: [digested('e', {}, { channel: 'd' })] })
      await advance(HOUR)
      const claimed = await claimOne('d')
      const { digest } = structuredClone(claimed)
      spoil(claimed)
      await advance(LEASE)
      equal((await claimOne('d')).digest, digest, 'nor with what a claim gave')
      matches(digest, {
        recipient: { id: ADDRESS, attributes: { tags: ['a'] } },
        events: [{ dispatchId: '1', eventData: { list: [1] } }, { eventData: { of: 'e' } }],
      })
    }),

    contractCase('what is stored does not change with what a reader was given', async ({ store, other, accept }) => {
      const answer = (dispatch: Dispatch): DispatchAnswer => ({
        ...answerOf(dispatch),
        deliveries: dispatch.deliveries.map(({ attemptLog: _, ...rest }) => rest),
      })
      const accepted = await accept('1', { ...keyed(), deliveries: everyKind(), answer })
      const first = structuredClone('answer' in accepted && accepted.answer)
      const before = structuredClone(await store.findDispatch(TENANT, '1'))
      spoil(accepted)
      for (const handle of [store, other]) {
        spoil(await handle.findDispatch(TENANT, '1'))
        spoil(await handle.listDispatches({ tenant: TENANT, limit: 5 }))
        spoil(await handle.recall(TENANT, 'k'))
        spoil(await handle.accept(acceptance('2', keyed())))
        equal(await handle.findDispatch(TENANT, '1'), before)
        equal(await handle.recall(TENANT, 'k'), { fingerprint: 'f1', answer: first })
      }
    }),

    contractCase('what is stored does not change with what a claim gave', async (harness) => {
      const { accept, claimOne, advance, found } = harness
      await accept('1', { deliveries: [delivery('x', { content: { data: { list: [1] } } })] })
      const first = await claimOne()
      const before = structuredClone([first.content, first.dispatch])
      const stored = await found('1')
      spoil(first)
      equal(await found('1'), stored)
      await advance(LEASE)
      const again = await claimOne()
      equal([again.content, again.dispatch], before)
      const history = structuredClone(again.history)
      spoil(again.history)
      await advance(LEASE)
      const third = await claimOne()
      equal(third.history.slice(0, 1), history)
    }),

    contractCase('what is stored does not change with what a change gave', async (harness) => {
      const { store, accept, fail, states, advance, claim, only } = harness
      await accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b', delayMs: HOUR })] })
      await fail()
      spoil(await store.cancel(TENANT, '1'))
      equal(await states('1'), ['failed provider_rejected', 'cancelled'])
      spoil(await store.retry(TENANT, '1', { expiresInMs: MINUTE }))
      equal(await states('1'), ['queued', 'cancelled'])
      await advance(MINUTE)
      spoil((await claim()).expired)
      matches(await only('1'), { deliveryId: 'x', status: 'expired', attempts: 1 })
      matches(await harness.found('1'), { dispatchId: '1', eventType: 'e', deliveries: [{ channel: 'a' }, {}] })
    }),

    contractCase('what is stored does not change with a settlement', async ({ store, accept, claimOne, only }) => {
      await accept('1', { deliveries: [digested('x', {}, { delayMs: 0 })] })
      const settlement = {
        ...proof(await claimOne()),
        to: 'queued',
        delayMs: 0,
        content: { data: { list: [1] } },
        attempt: { outcome: 'retry', code: 'busy', provider: 'p1' },
      } as const
      await store.settle(settlement)
      spoil(settlement)
      matches(await only('1'), {
        content: { data: { list: [1] } },
        attemptLog: [{ outcome: 'retry', code: 'busy', provider: 'p1' }],
      })
    }),
  ]
}

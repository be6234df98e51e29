import type { NewDelivery, NewDigest } from '../../ports/dispatch-store.ts'
import { equal, matches } from '../assertions.ts'
import {
  ADDRESS,
  delivery,
  digested,
  type GivenDispatch,
  HOUR,
  LEASE,
  MARGIN,
  MINUTE,
  proof,
  RETRY,
  SENT,
} from './samples.ts'
import { between, contractCase, type DispatchCase, idsOf, type StoreHarness, timed } from './store-harness.ts'

export const eventsOf = (...ids: readonly string[]): readonly object[] =>
  ids.map((id) => ({ dispatchId: id, eventData: { of: `${id}-d` } }))

/** Accepts an event of the digest that is tried, where nothing else is said, and tells which delivery it is in. */
export type AcceptEvent = (
  dispatchId: string,
  digest?: Partial<NewDigest>,
  rest?: Partial<NewDelivery>,
  given?: GivenDispatch,
) => Promise<string>

export function digesting({ accept, only }: StoreHarness): AcceptEvent {
  return async (id, digest, rest, given = {}) => {
    await accept(id, { deliveries: [digested(`${id}-d`, digest, rest)], ...given })
    return (await only(id, given.tenant)).deliveryId
  }
}

export function digestCases(): readonly DispatchCase[] {
  return [...joining(), ...closing()]
}

function joining(): readonly DispatchCase[] {
  return [
    contractCase('events that belong together are one delivery, in each of their dispatches', async (harness) => {
      const { store, advance, claim, claimOne, only, found } = harness
      const post = digesting(harness)
      const { from, to } = await timed(harness, () => post('1', { recipient: { id: ADDRESS, locale: 'de' } }))
      await advance(30 * MINUTE)
      equal(await post('2', { recipient: { id: ADDRESS, locale: 'fr' } }), '1-d')
      const shared = await only('1')
      matches(shared, {
        deliveryId: '1-d',
        status: 'queued',
        deferred: true,
        eventCount: 2,
        attempts: 0,
        content: undefined,
      })
      between(shared.dueAt, from + HOUR, to + HOUR, 'it is due when the first was to be')
      equal(await only('2'), shared)
      await advance(30 * MINUTE)
      const claimed = await claimOne()
      matches(claimed, { deliveryId: '1-d', dispatch: { dispatchId: '1' }, address: ADDRESS, content: undefined })
      const recipient = { id: ADDRESS, locale: 'de' }
      equal(claimed.digest, { key: 'k', max: 3, recipient, events: eventsOf('1', '2') }, 'it is rendered from')
      equal((await claim()).deliveries, [])
      await store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
      matches(await only('1'), { status: 'sent', attempts: 1 })
      equal(await only('2'), await only('1'))
      matches(await found('2'), { dispatchId: '2', recipient: ADDRESS })
    }),

    contractCase('a digest is of one tenant, event, recipient, channel, address and key', async (harness) => {
      const post = digesting(harness)
      equal(await post('1'), '1-d')
      equal(await post('2', {}, {}, { tenant: 't2' }), '2-d')
      equal(await post('3', {}, {}, { eventType: 'other' }), '3-d')
      equal(await post('4', {}, {}, { recipient: 'other' }), '4-d')
      equal(await post('5', {}, { channel: 'other' }), '5-d')
      equal(await post('6', {}, { address: 'other@example.com' }), '6-d')
      equal(await post('7', { key: 'other' }), '7-d')
      equal(await post('8', { key: '' }), '8-d')
      equal(await post('9', {}, { address: 'other@example.com' }), '6-d')
      equal(await post('10', { key: '' }), '8-d')
    }),

    contractCase('a digest takes events of any session', async (harness) => {
      const post = digesting(harness)
      await post('1', {}, {}, { sessionId: 's1' })
      equal(await post('2', {}, {}, { sessionId: 's2' }), '1-d')
      equal(await post('3'), '1-d')
    }),

    contractCase('what is no digest joins none', async (harness) => {
      await digesting(harness)('1', { key: '' })
      await harness.accept('2', { deliveries: [delivery('x', { delayMs: HOUR })] })
      matches(await harness.only('2'), { deliveryId: 'x', content: { text: 'x' }, eventCount: undefined })
      matches(await harness.only('1'), { eventCount: 1 })
    }),

    contractCase('a digest stands in its place among the other deliveries', async (harness) => {
      await digesting(harness)('1')
      const around = (id: string) => delivery(id, { channel: id })
      await harness.accept('2', { deliveries: [around('x'), digested('y'), around('z')] })
      matches((await harness.found('2')).deliveries, [{ deliveryId: 'x' }, { deliveryId: '1-d' }, { deliveryId: 'z' }])
    }),

    contractCase('only the event that opens a digest counts under its limits', async (harness) => {
      const post = digesting(harness)
      const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
      for (const id of ['1', '2', '3']) equal(await post(id, {}, { limits }), '1-d')
      equal(await post('4', {}, { limits }), '4-d')
      equal(await harness.states('4'), ['skipped throttled'])
      equal(await post('5'), '5-d', 'what was throttled is no digest to join')
    }),
  ]
}

function closing(): readonly DispatchCase[] {
  return [
    contractCase('a digest that is full is joined no more, and the next event opens another', async (harness) => {
      const post = digesting(harness)
      const max = 2
      const found: string[] = []
      for (const id of ['1', '2', '3', '4', '5']) found.push(await post(id, { max }))
      equal(found, ['1-d', '1-d', '3-d', '3-d', '5-d'])
      equal(await post('6', { key: 'one', max: 1 }), '6-d')
      equal(await post('7', { key: 'one', max: 1 }), '7-d')
    }),

    contractCase('of several open digests the one that was opened first is joined', async (harness) => {
      const { store } = harness
      const post = digesting(harness)
      for (const id of ['1', '2', '3']) {
        await post(id, { max: 2 })
        await harness.advance(MINUTE)
      }
      await store.cancel('t1', '1')
      equal(await post('4', { max: 2 }), '1-d')
      equal(await post('5', { max: 2 }), '3-d')
    }),

    contractCase('a digest that is due is joined no more, claimed or not', async (harness) => {
      const { advance } = harness
      const post = digesting(harness)
      await post('1')
      await advance(HOUR - MARGIN)
      equal(await post('2'), '1-d')
      await advance(MARGIN)
      equal(await post('3'), '3-d')
      equal(idsOf((await harness.claim()).deliveries), ['1-d'])
    }),

    contractCase('a digest that is being sent or has ended is joined no more', async (harness) => {
      const { advance, claimOne, store } = harness
      const post = digesting(harness)
      await post('1')
      await advance(HOUR)
      const mine = proof(await claimOne())
      equal(await post('2'), '2-d')
      await store.settle({ ...mine, to: 'failed', reason: 'template_error' })
      equal(await post('3'), '2-d')
    }),

    contractCase('a digest that is rendered says the same at every attempt, and is joined no more', async (harness) => {
      const { store, advance, claimOne, only } = harness
      const post = digesting(harness)
      for (const id of ['1', '2']) await post(id)
      await advance(HOUR)
      const content = { subject: '2 events', list: [1, 2] }
      await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: MINUTE, content })
      equal(await post('3'), '3-d')
      for (const id of ['1', '2']) matches(await only(id), { status: 'queued', content, eventCount: 2, attempts: 0 })
      await advance(MINUTE)
      const second = await claimOne()
      matches(second, { deliveryId: '1-d', content, digest: undefined, attempts: 1 })
      await store.settle({ ...proof(second), to: 'queued', delayMs: 0, attempt: RETRY })
      matches(await claimOne('a', MINUTE), { content, digest: undefined, attempts: 2 })
      await advance(MINUTE)
      matches(await claimOne(), { content, digest: undefined, attempts: 3 })
    }),

    contractCase('a digest that is put back without having been rendered is open again', async (harness) => {
      const { store, advance, claimOne } = harness
      const post = digesting(harness)
      await post('1')
      await advance(HOUR)
      await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: HOUR })
      equal(await post('2'), '1-d')
      await advance(HOUR)
      matches(await claimOne(), { digest: { events: eventsOf('1', '2') }, attempts: 1 })
    }),

    contractCase('a digest whose worker died is rendered from the same events', async (harness) => {
      const { advance, claimOne } = harness
      const post = digesting(harness)
      for (const id of ['1', '2']) await post(id)
      await advance(HOUR)
      const { digest } = await claimOne()
      await advance(LEASE)
      matches(await claimOne(), { deliveryId: '1-d', digest, attempts: 2 })
    }),
  ]
}

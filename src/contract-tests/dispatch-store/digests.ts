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
import { between, type DispatchCase, dispatchCases, idsOf, type StoreHarness, timed } from './store-harness.ts'

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

/** A digest of these, which is being sent. */
async function sendingOf(harness: StoreHarness, ...ids: readonly string[]) {
  const post = digesting(harness)
  for (const id of ids) await post(id)
  await harness.advance(HOUR)
  return proof(await harness.claimOne('a', HOUR))
}

const content = { text: 'rendered' }

async function statesOf({ states }: StoreHarness, ...ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const id of ids) found.push(...(await states(id)))
  return found
}

/** What comes of a digest when one of its dispatches is cancelled. */
export const digestCases: readonly DispatchCase[] = dispatchCases([], {
  'events that belong together are one delivery, in each of their dispatches': async (t) => {
    const post = digesting(t)
    const { from, to } = await timed(t, () => post('1', { recipient: { id: ADDRESS, locale: 'de' } }))
    await t.advance(30 * MINUTE)
    equal(await post('2', { recipient: { id: ADDRESS, locale: 'fr' } }), '1-d')
    const shared = await t.only('1')
    matches(shared, {
      deliveryId: '1-d',
      status: 'queued',
      deferred: true,
      eventCount: 2,
      attempts: 0,
      content: undefined,
    })
    between(shared.dueAt, from + HOUR, to + HOUR, 'it is due when the first was to be')
    equal(await t.only('2'), shared)
    await t.advance(30 * MINUTE)
    const claimed = await t.claimOne()
    matches(claimed, { deliveryId: '1-d', dispatch: { dispatchId: '1' }, address: ADDRESS, content: undefined })
    const recipient = { id: ADDRESS, locale: 'de' }
    equal(claimed.digest, { key: 'k', max: 3, recipient, events: eventsOf('1', '2') }, 'it is rendered from')
    equal((await t.claim()).deliveries, [])
    await t.store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
    matches(await t.only('1'), { status: 'sent', attempts: 1 })
    equal(await t.only('2'), await t.only('1'))
    matches(await t.found('2'), { dispatchId: '2', recipient: ADDRESS })
  },
  'a digest is of one tenant, event, recipient, channel, address and key': async (t) => {
    const post = digesting(t)
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
  },
  'a digest takes events of any session': async (t) => {
    const post = digesting(t)
    await post('1', {}, {}, { sessionId: 's1' })
    equal(await post('2', {}, {}, { sessionId: 's2' }), '1-d')
    equal(await post('3'), '1-d')
  },
  'what is no digest joins none': async (t) => {
    await digesting(t)('1', { key: '' })
    await t.accept('2', { deliveries: [delivery('x', { delayMs: HOUR })] })
    matches(await t.only('2'), { deliveryId: 'x', content: { text: 'x' }, eventCount: undefined })
    matches(await t.only('1'), { eventCount: 1 })
  },
  'a digest stands in its place among the other deliveries': async (t) => {
    await digesting(t)('1')
    const around = (id: string) => delivery(id, { channel: id })
    await t.accept('2', { deliveries: [around('x'), digested('y'), around('z')] })
    matches((await t.found('2')).deliveries, [{ deliveryId: 'x' }, { deliveryId: '1-d' }, { deliveryId: 'z' }])
  },
  'only the event that opens a digest counts under its limits': async (t) => {
    const post = digesting(t)
    const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
    for (const id of ['1', '2', '3']) equal(await post(id, {}, { limits }), '1-d')
    equal(await post('4', {}, { limits }), '4-d')
    equal(await t.states('4'), ['skipped throttled'])
    equal(await post('5'), '5-d', 'what was throttled is no digest to join')
  },
  'a digest that is full is joined no more, and the next event opens another': async (t) => {
    const post = digesting(t)
    const max = 2
    const found: string[] = []
    for (const id of ['1', '2', '3', '4', '5']) found.push(await post(id, { max }))
    equal(found, ['1-d', '1-d', '3-d', '3-d', '5-d'])
    equal(await post('6', { key: 'one', max: 1 }), '6-d')
    equal(await post('7', { key: 'one', max: 1 }), '7-d')
  },
  'of several open digests the one that was opened first is joined': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2', '3']) {
      await post(id, { max: 2 })
      await t.advance(MINUTE)
    }
    await t.store.cancel('t1', '1')
    equal(await post('4', { max: 2 }), '1-d')
    equal(await post('5', { max: 2 }), '3-d')
  },
  'a digest that is due is joined no more, claimed or not': async (t) => {
    const post = digesting(t)
    await post('1')
    await t.advance(HOUR - MARGIN)
    equal(await post('2'), '1-d')
    await t.advance(MARGIN)
    equal(await post('3'), '3-d')
    equal(idsOf((await t.claim()).deliveries), ['1-d'])
  },
  'a digest that is being sent or has ended is joined no more': async (t) => {
    const post = digesting(t)
    await post('1')
    await t.advance(HOUR)
    const mine = proof(await t.claimOne())
    equal(await post('2'), '2-d')
    await t.store.settle({ ...mine, to: 'failed', reason: 'template_error' })
    equal(await post('3'), '2-d')
  },
  'a digest that is rendered says the same at every attempt, and is joined no more': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2']) await post(id)
    await t.advance(HOUR)
    const content = { subject: '2 events', list: [1, 2] }
    await t.settleNext({ to: 'queued', delayMs: MINUTE, content })
    equal(await post('3'), '3-d')
    for (const id of ['1', '2']) matches(await t.only(id), { status: 'queued', content, eventCount: 2, attempts: 0 })
    await t.advance(MINUTE)
    const second = await t.claimOne()
    matches(second, { deliveryId: '1-d', content, digest: undefined, attempts: 1 })
    await t.store.settle({ ...proof(second), to: 'queued', delayMs: 0, attempt: RETRY })
    matches(await t.claimOne('a', MINUTE), { content, digest: undefined, attempts: 2 })
    await t.advance(MINUTE)
    matches(await t.claimOne(), { content, digest: undefined, attempts: 3 })
  },
  'a digest that is put back without having been rendered is open again': async (t) => {
    const post = digesting(t)
    await post('1')
    await t.advance(HOUR)
    await t.settleNext({ to: 'queued', delayMs: HOUR })
    equal(await post('2'), '1-d')
    await t.advance(HOUR)
    matches(await t.claimOne(), { digest: { events: eventsOf('1', '2') }, attempts: 1 })
  },
  'a digest whose worker died is rendered from the same events': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2']) await post(id)
    await t.advance(HOUR)
    const { digest } = await t.claimOne()
    await t.advance(LEASE)
    matches(await t.claimOne(), { deliveryId: '1-d', digest, attempts: 2 })
  },
  'cancelling a dispatch takes its event out of a digest, and leaves it a record': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2', '3']) await post(id)
    const change = await t.cancel('1')
    equal(change?.changed, [{ deliveryId: '1-d', channel: 'a', status: 'cancelled', attempts: 0 }])
    equal(change?.dispatch, await t.found('1'))
    matches(await t.only('1'), { deliveryId: '1-d', status: 'cancelled', dueAt: undefined })
    for (const id of ['2', '3']) matches(await t.only(id), { deliveryId: '1-d', status: 'queued', eventCount: 2 })
    await t.advance(HOUR)
    const claimed = await t.claimOne()
    matches(claimed, { deliveryId: '1-d', dispatch: { dispatchId: '2' }, digest: { events: eventsOf('2', '3') } })
    await t.store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
    matches(await t.only('1'), { status: 'cancelled', attempts: 0, attemptLog: [] })
    equal(await statesOf(t, '2', '3'), ['sent', 'sent'])
  },
  'an event that was taken out makes room for another': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2']) await post(id, { max: 2 })
    await t.cancel('2')
    equal(await post('3', { max: 2 }), '1-d')
    await t.advance(HOUR)
    matches(await t.claimOne(), { digest: { events: eventsOf('1', '3') } })
  },
  'with its last event a digest is cancelled, and the next one opens another': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2']) await post(id)
    for (const id of ['2', '1']) {
      matches(await t.cancel(id), { changed: [{ deliveryId: '1-d', status: 'cancelled' }] })
    }
    matches(await t.cancel('1'), { changed: [] })
    equal(await post('3'), '3-d')
    await t.advance(HOUR)
    matches((await t.claim()).deliveries, [{ deliveryId: '3-d', digest: { events: eventsOf('3') } }])
  },
  'an event is taken out of a digest that is being sent once that is put back': async (t) => {
    const mine = await sendingOf(t, '1', '2', '3')
    matches(await t.cancel('1'), { changed: [] })
    equal(await statesOf(t, '1', '2', '3'), ['sending', 'sending', 'sending'])
    await t.store.settle({ ...mine, to: 'queued', delayMs: MINUTE })
    equal(await statesOf(t, '1', '2', '3'), ['cancelled', 'queued', 'queued'])
    await t.advance(MINUTE)
    matches(await t.claimOne(), { dispatch: { dispatchId: '2' }, digest: { events: eventsOf('2', '3') } })
  },
  'an event is taken out of a digest whose worker died before that is handed out': async (t) => {
    await sendingOf(t, '1', '2')
    await t.cancel('2')
    await t.advance(HOUR)
    matches(await t.claimOne(), { deliveryId: '1-d', attempts: 2, digest: { events: eventsOf('1') } })
    equal(await statesOf(t, '1', '2'), ['sending', 'cancelled'])
  },
  'a digest that is rendered is cancelled once all its dispatches have asked for it': async (t) => {
    await t.store.settle({ ...(await sendingOf(t, '1', '2')), to: 'queued', delayMs: MINUTE, content })
    const before = await t.only('1')
    for (const _ of ['once', 'twice']) matches(await t.cancel('2'), { changed: [] })
    equal([await t.only('1'), await t.only('2')], [before, before])
    equal((await t.cancel('1'))?.changed, [{ deliveryId: '1-d', channel: 'a', status: 'cancelled', attempts: 0 }])
    equal(await statesOf(t, '1', '2'), ['cancelled', 'cancelled'])
    await t.advance(HOUR)
    matches(await t.claim(), { deliveries: [], expired: [] })
  },
  'a digest that is rendered is sent while one of its dispatches wants it': async (t) => {
    await t.store.settle({ ...(await sendingOf(t, '1', '2')), to: 'queued', delayMs: 0, content })
    await t.cancel('1')
    await t.settleNext({ to: 'queued', delayMs: 0, attempt: RETRY })
    equal(await statesOf(t, '1', '2'), ['queued', 'queued'])
    await t.send()
    equal(await statesOf(t, '1', '2'), ['sent', 'sent'])
  },
  'a digest that is being sent when nobody wants it any longer is not queued again': async (t) => {
    const mine = await sendingOf(t, '1', '2')
    for (const id of ['1', '2']) matches(await t.cancel(id), { changed: [] })
    matches(await t.store.settle({ ...mine, to: 'queued', delayMs: 0, content }), { live: true, cancelled: true })
    equal(await statesOf(t, '1', '2'), ['cancelled', 'cancelled'])
    equal((await t.claim()).deliveries, [])
  },
})

import { equal, matches } from '../../../../src/contract-tests/assertions.ts'
import {
  ADDRESS,
  delivery,
  digested,
  HOUR,
  LEASE,
  MARGIN,
  MINUTE,
  proof,
  RETRY,
  SENT,
} from '../../../../src/contract-tests/dispatch-store/samples.ts'
import {
  between,
  type DispatchCase,
  digesting,
  dispatchCases,
  idsOf,
  type StoreHarness,
  timed,
} from '../../../../src/contract-tests/dispatch-store/store-harness.ts'

const eventsOf = (...ids: readonly string[]): readonly object[] =>
  ids.map((id) => ({ dispatchId: id, eventData: { of: `${id}-d` } }))

/** Opens a digest with these events and claims it. Returns the lease. */
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

export const digestCases: readonly DispatchCase[] = dispatchCases([], {
  'events of one digest share one delivery, shown in each dispatch': async (t) => {
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
    between(shared.dueAt, from + HOUR, to + HOUR, 'dueAt is that of the first event')
    equal(await t.only('2'), shared)
    await t.advance(30 * MINUTE)
    const claimed = await t.claimOne()
    matches(claimed, { deliveryId: '1-d', dispatch: { dispatchId: '1' }, address: ADDRESS, content: undefined })
    const recipient = { id: ADDRESS, locale: 'de' }
    equal(
      claimed.digest,
      { key: 'k', max: 3, recipient, events: eventsOf('1', '2') },
      'the digest has the recipient of the first event and all events',
    )
    equal((await t.claim()).deliveries, [])
    await t.store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
    matches(await t.only('1'), { status: 'sent', attempts: 1 })
    equal(await t.only('2'), await t.only('1'))
    matches(await t.found('2'), { dispatchId: '2', recipient: ADDRESS })
  },
  'a digest belongs to one tenant, event type, recipient, channel, address and key': async (t) => {
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
  'a digest takes events of all sessions': async (t) => {
    const post = digesting(t)
    await post('1', {}, {}, { sessionId: 's1' })
    equal(await post('2', {}, {}, { sessionId: 's2' }), '1-d')
    equal(await post('3'), '1-d')
  },
  'a delivery without a digest joins no digest': async (t) => {
    await digesting(t)('1', { key: '' })
    await t.accept('2', { deliveries: [delivery('x', { delayMs: HOUR })] })
    matches(await t.only('2'), { deliveryId: 'x', content: { text: 'x' }, eventCount: undefined })
    matches(await t.only('1'), { eventCount: 1 })
  },
  'a joined digest keeps its place among the deliveries of a dispatch': async (t) => {
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
    equal(await post('5'), '5-d', 'a throttled digest takes no events')
  },
  'a full digest takes no more events, and the next event opens another': async (t) => {
    const post = digesting(t)
    const max = 2
    const found: string[] = []
    for (const id of ['1', '2', '3', '4', '5']) found.push(await post(id, { max }))
    equal(found, ['1-d', '1-d', '3-d', '3-d', '5-d'])
    equal(await post('6', { key: 'one', max: 1 }), '6-d')
    equal(await post('7', { key: 'one', max: 1 }), '7-d')
  },
  'an event joins the oldest open digest': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2', '3']) {
      await post(id, { max: 2 })
      await t.advance(MINUTE)
    }
    await t.store.cancel('t1', '1')
    equal(await post('4', { max: 2 }), '1-d')
    equal(await post('5', { max: 2 }), '3-d')
  },
  'a digest that is due takes no more events, claimed or not': async (t) => {
    const post = digesting(t)
    await post('1')
    await t.advance(HOUR - MARGIN)
    equal(await post('2'), '1-d')
    await t.advance(MARGIN)
    equal(await post('3'), '3-d')
    equal(idsOf((await t.claim()).deliveries), ['1-d'])
  },
  'a digest that is being sent or has ended takes no more events': async (t) => {
    const post = digesting(t)
    await post('1')
    await t.advance(HOUR)
    const mine = proof(await t.claimOne())
    equal(await post('2'), '2-d')
    await t.store.settle({ ...mine, to: 'failed', reason: 'template_error' })
    equal(await post('3'), '2-d')
  },
  'a rendered digest keeps its content for every attempt, and takes no more events': async (t) => {
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
  'a digest that is queued again without content takes events again': async (t) => {
    const post = digesting(t)
    await post('1')
    await t.advance(HOUR)
    await t.settleNext({ to: 'queued', delayMs: HOUR })
    equal(await post('2'), '1-d')
    await t.advance(HOUR)
    matches(await t.claimOne(), { digest: { events: eventsOf('1', '2') }, attempts: 1 })
  },
  'a digest whose worker died keeps its events': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2']) await post(id)
    await t.advance(HOUR)
    const { digest } = await t.claimOne()
    await t.advance(LEASE)
    matches(await t.claimOne(), { deliveryId: '1-d', digest, attempts: 2 })
  },
  'cancel takes the event out of its digest, and leaves a cancelled delivery': async (t) => {
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
  'an event that left a digest makes room for another': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2']) await post(id, { max: 2 })
    await t.cancel('2')
    equal(await post('3', { max: 2 }), '1-d')
    await t.advance(HOUR)
    matches(await t.claimOne(), { digest: { events: eventsOf('1', '3') } })
  },
  'cancelling the last event cancels the digest, and the next event opens another': async (t) => {
    const post = digesting(t)
    for (const id of ['1', '2']) await post(id)
    for (const id of ['2', '1']) matches(await t.cancel(id), { changed: [{ deliveryId: '1-d', status: 'cancelled' }] })
    matches(await t.cancel('1'), { changed: [] })
    equal(await post('3'), '3-d')
    await t.advance(HOUR)
    matches((await t.claim()).deliveries, [{ deliveryId: '3-d', digest: { events: eventsOf('3') } }])
  },
  'an event leaves a digest that is being sent when the digest is queued again': async (t) => {
    const mine = await sendingOf(t, '1', '2', '3')
    matches(await t.cancel('1'), { changed: [] })
    equal(await statesOf(t, '1', '2', '3'), ['sending', 'sending', 'sending'])
    await t.store.settle({ ...mine, to: 'queued', delayMs: MINUTE })
    equal(await statesOf(t, '1', '2', '3'), ['cancelled', 'queued', 'queued'])
    await t.advance(MINUTE)
    matches(await t.claimOne(), { dispatch: { dispatchId: '2' }, digest: { events: eventsOf('2', '3') } })
  },
  'an event leaves a digest whose worker died before the next claim': async (t) => {
    await sendingOf(t, '1', '2')
    await t.cancel('2')
    await t.advance(HOUR)
    matches(await t.claimOne(), { deliveryId: '1-d', attempts: 2, digest: { events: eventsOf('1') } })
    equal(await statesOf(t, '1', '2'), ['sending', 'cancelled'])
  },
  'a rendered digest is cancelled when all its dispatches are': async (t) => {
    await t.store.settle({ ...(await sendingOf(t, '1', '2')), to: 'queued', delayMs: MINUTE, content })
    const before = await t.only('1')
    for (const _ of ['once', 'twice']) matches(await t.cancel('2'), { changed: [] })
    equal([await t.only('1'), await t.only('2')], [before, before])
    equal((await t.cancel('1'))?.changed, [{ deliveryId: '1-d', channel: 'a', status: 'cancelled', attempts: 0 }])
    equal(await statesOf(t, '1', '2'), ['cancelled', 'cancelled'])
    await t.advance(HOUR)
    matches(await t.claim(), { deliveries: [], expired: [] })
  },
  'a rendered digest is sent while one of its dispatches is not cancelled': async (t) => {
    await t.store.settle({ ...(await sendingOf(t, '1', '2')), to: 'queued', delayMs: 0, content })
    await t.cancel('1')
    await t.settleNext({ to: 'queued', delayMs: 0, attempt: RETRY })
    equal(await statesOf(t, '1', '2'), ['queued', 'queued'])
    await t.send()
    equal(await statesOf(t, '1', '2'), ['sent', 'sent'])
  },
  'a digest whose dispatches are all cancelled while it is sent is not queued again': async (t) => {
    const mine = await sendingOf(t, '1', '2')
    for (const id of ['1', '2']) matches(await t.cancel(id), { changed: [] })
    matches(await t.store.settle({ ...mine, to: 'queued', delayMs: 0, content }), { live: true, cancelled: true })
    equal(await statesOf(t, '1', '2'), ['cancelled', 'cancelled'])
    equal((await t.claim()).deliveries, [])
  },
})

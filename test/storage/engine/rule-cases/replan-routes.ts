import { equal, matches } from '../../../../src/contract-tests/assertions.ts'
import { replan, SOURCE } from '../../../../src/contract-tests/dispatch-store/replans.ts'
import {
  broken,
  delivery,
  digested,
  HOUR,
  proof,
  SENT,
  TENANT,
} from '../../../../src/contract-tests/dispatch-store/samples.ts'
import { type DispatchCase, dispatchCases } from '../../../../src/contract-tests/dispatch-store/store-harness.ts'

const limits = [{ key: 'l', max: 2, windowMs: 100 * HOUR }]
const b = { channel: 'b' }
const FAILED = 'failed provider_rejected'

export const replanRouteCases: readonly DispatchCase[] = dispatchCases([], {
  'a replanned delivery counts under its limits, and is throttled where they are spent': async (t) => {
    const deliveries = [broken('x'), broken('y', { channel: 'b' })]
    await t.accept('1', { deliveries, source: SOURCE })
    await t.accept('2', { deliveries: [delivery('z', { channel: 'c', limits })] })
    const planned = [delivery('x', { limits }), delivery('y', { channel: 'b', limits })]
    matches(await replan(t, '1', planned), {
      changed: [{ status: 'queued' }, { status: 'skipped', reason: 'throttled' }],
    })
    equal(await t.states('1'), ['queued', 'skipped throttled'])
    await t.accept('3', { deliveries: [delivery('w', { channel: 'c', limits })] })
    equal(await t.states('3'), ['skipped throttled'])
  },
  'a replanned delivery joins an open digest': async (t) => {
    await t.accept('1', { deliveries: [digested('d')] })
    await t.accept('2', { deliveries: [broken('x'), delivery('y', { channel: 'b' })], source: SOURCE })
    matches(await replan(t, '2', [digested('x')]), { changed: [{ deliveryId: 'd', status: 'queued' }] })
    matches(await t.only('1'), { deliveryId: 'd', eventCount: 2 })
    matches((await t.found('2')).deliveries, [{ deliveryId: 'd', eventCount: 2 }, { deliveryId: 'y' }])
    await t.accept('3', { deliveries: [digested('e')] })
    matches(await t.only('3'), { deliveryId: 'd', eventCount: 3 })
    await t.advance(HOUR)
    const { digest } = await t.claimOne()
    equal(
      digest?.events.map(({ dispatchId, eventData }) => [dispatchId, eventData.of]),
      [
        ['1', 'd'],
        ['2', 'x'],
        ['3', 'e'],
      ],
    )
  },
  'a replanned delivery opens a digest that others join and leave': async (t) => {
    await t.accept('1', { deliveries: [broken('x')], source: SOURCE })
    matches(await replan(t, '1', [digested('x')]), { changed: [{ deliveryId: 'x', status: 'queued' }] })
    matches(await t.only('1'), { deliveryId: 'x', eventCount: 1 })
    for (const id of ['2', '3']) await t.accept(id, { deliveries: [digested(id)] })
    matches(await t.only('2'), { deliveryId: 'x', eventCount: 3 })
    await t.cancel('1')
    equal([await t.states('1'), await t.states('2')], [['cancelled'], ['queued']])
    await t.advance(HOUR)
    const claimed = await t.claimOne()
    equal(
      claimed.digest?.events.map(({ dispatchId }) => dispatchId),
      ['2', '3'],
    )
    await t.store.settle({ ...proof(claimed), to: 'queued', delayMs: 0, content: { text: 'x' } })
    await t.send()
    equal([await t.states('1'), await t.states('2'), await t.states('3')], [['cancelled'], ['sent'], ['sent']])
  },
  'a dispatch whose replanned delivery joined a digest can be removed': async (t) => {
    await t.accept('1', { deliveries: [digested('d')] })
    await t.accept('2', { deliveries: [broken('x')], source: SOURCE })
    await replan(t, '2', [digested('x')])
    await t.advance(2 * HOUR)
    await t.fail()
    equal(await t.store.removeDispatches({ acceptedForMs: HOUR, limit: 9 }), 2)
    for (const id of ['1', '2']) equal(await t.store.findDispatch(TENANT, id), undefined)
  },
  'with the route first, replanned and retried deliveries keep the order of the route': async (t) => {
    const deliveries = [broken('x'), delivery('y', b), broken('z', { channel: 'c' })]
    await t.accept('1', { route: 'first', deliveries, source: SOURCE })
    await t.fail('b')
    const planned = [delivery('x'), delivery('z', { channel: 'c', status: 'held' })]
    matches(await replan(t, '1', planned), {
      changed: [{ deliveryId: 'x', status: 'queued' }, { deliveryId: 'y', status: 'held' }, { deliveryId: 'z' }],
    })
    equal(await t.states('1'), ['queued', 'held', 'held'])
    await t.fail()
    matches(await t.claimOne('b'), { deliveryId: 'y', attempts: 2, attemptsBefore: 1 })
  },
  'with the route first, a replanned delivery waits for retried ones before it': async (t) => {
    await t.accept('1', { route: 'first', deliveries: [delivery('x'), broken('y', b)], source: SOURCE })
    await t.fail()
    await replan(t, '1', [delivery('y', b)])
    equal(await t.states('1'), ['queued', 'held'])
    await t.fail()
    equal(await t.states('1'), [FAILED, 'queued'])
    matches(await t.claimOne('b'), { deliveryId: 'y', deferred: true })
  },
  'with the route first, a replanned delivery keeps its delay': async (t) => {
    await t.accept('1', { route: 'first', deliveries: [broken('x'), broken('y', b)], source: SOURCE })
    const planned = [delivery('x', { delayMs: HOUR, deferred: true }), delivery('y', { ...b, status: 'held' })]
    await replan(t, '1', planned)
    equal((await t.claim({ a: 1, b: 1 })).deliveries, [])
    await t.advance(HOUR)
    matches(await t.claimOne(), { deliveryId: 'x' })
  },
  'with the route first, replan throttles a delivery with a spent limit and queues the next': async (t) => {
    const limits = [{ key: 'l', max: 1, windowMs: 100 * HOUR }]
    await t.accept('1', { route: 'first', deliveries: [broken('x'), broken('y', b)], source: SOURCE })
    await t.accept('2', { deliveries: [delivery('z', { channel: 'c', limits })] })
    await replan(t, '1', [delivery('x', { limits }), delivery('y', { ...b, status: 'held' })])
    equal(await t.states('1'), ['skipped throttled', 'queued'])
  },
  'with the route first, replan changes nothing while a delivery is sent or open': async (t) => {
    await t.accept('1', { route: 'first', deliveries: [broken('x'), delivery('y', b)], source: SOURCE })
    const unchanged = async (what: string) => {
      const before = await t.found('1')
      const change = await replan(t, '1', [delivery('x')])
      equal(change, { outcome: 'replanned', changed: [], dispatch: before }, what)
      equal(await t.found('1'), before, what)
    }
    await unchanged('the second delivery is queued')
    const claimed = await t.claimOne('b')
    await unchanged('the second delivery is being sent')
    await t.store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
    await unchanged('the second delivery is sent')
  },
})

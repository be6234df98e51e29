import { equal, matches } from '../assertions.ts'
import { replan, SOURCE } from './replanning.ts'
import { broken, delivery, digested, HOUR, proof, SENT, TENANT } from './samples.ts'
import { contractCase, type DispatchCase } from './store-harness.ts'

/** Limits, digests and the route `first` of deliveries that are planned again. */
export function replanRouteCases(): readonly DispatchCase[] {
  return [...counting(), ...digesting(), ...first()]
}

function counting(): readonly DispatchCase[] {
  const limits = [{ key: 'l', max: 2, windowMs: 100 * HOUR }]
  return [
    contractCase('what is replaced counts under its limits, and is throttled where they are spent', async (harness) => {
      const { accept, states } = harness
      const deliveries = [broken('x'), broken('y', { channel: 'b' })]
      await accept('1', { deliveries, source: SOURCE })
      await accept('2', { deliveries: [delivery('z', { channel: 'c', limits })] })
      const planned = [delivery('x', { limits }), delivery('y', { channel: 'b', limits })]
      matches(await replan(harness, '1', planned), {
        changed: [{ status: 'queued' }, { status: 'skipped', reason: 'throttled' }],
      })
      equal(await states('1'), ['queued', 'skipped throttled'])
      await accept('3', { deliveries: [delivery('w', { channel: 'c', limits })] })
      equal(await states('3'), ['skipped throttled'])
    }),
  ]
}

function digesting(): readonly DispatchCase[] {
  return [
    contractCase('what is replaced joins the digest that is open for it', async (harness) => {
      const { accept, advance, claimOne, only, found } = harness
      await accept('1', { deliveries: [digested('d')] })
      await accept('2', { deliveries: [broken('x'), delivery('y', { channel: 'b' })], source: SOURCE })
      matches(await replan(harness, '2', [digested('x')]), { changed: [{ deliveryId: 'd', status: 'queued' }] })
      matches(await only('1'), { deliveryId: 'd', eventCount: 2 })
      matches((await found('2')).deliveries, [{ deliveryId: 'd', eventCount: 2 }, { deliveryId: 'y' }])
      await accept('3', { deliveries: [digested('e')] })
      matches(await only('3'), { deliveryId: 'd', eventCount: 3 })
      await advance(HOUR)
      const { digest } = await claimOne()
      equal(
        digest?.events.map(({ dispatchId, eventData }) => [dispatchId, eventData.of]),
        [
          ['1', 'd'],
          ['2', 'x'],
          ['3', 'e'],
        ],
      )
    }),

    contractCase('what is replaced opens a digest that others join, leave and are sent with', async (harness) => {
      const { store, accept, advance, claimOne, only, states } = harness
      await accept('1', { deliveries: [broken('x')], source: SOURCE })
      matches(await replan(harness, '1', [digested('x')]), { changed: [{ deliveryId: 'x', status: 'queued' }] })
      matches(await only('1'), { deliveryId: 'x', eventCount: 1 })
      for (const id of ['2', '3']) await accept(id, { deliveries: [digested(id)] })
      matches(await only('2'), { deliveryId: 'x', eventCount: 3 })
      await store.cancel(TENANT, '1')
      equal([await states('1'), await states('2')], [['cancelled'], ['queued']])
      await advance(HOUR)
      const claimed = await claimOne()
      equal(
        claimed.digest?.events.map(({ dispatchId }) => dispatchId),
        ['2', '3'],
      )
      await store.settle({ ...proof(claimed), to: 'queued', delayMs: 0, content: { text: 'x' } })
      await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: SENT })
      equal([await states('1'), await states('2'), await states('3')], [['cancelled'], ['sent'], ['sent']])
    }),

    contractCase('a dispatch whose replaced delivery joined a digest can be removed', async (harness) => {
      const { store, accept, advance, fail } = harness
      await accept('1', { deliveries: [digested('d')] })
      await accept('2', { deliveries: [broken('x')], source: SOURCE })
      await replan(harness, '2', [digested('x')])
      await advance(2 * HOUR)
      await fail()
      equal(await store.removeDispatches({ acceptedForMs: HOUR, limit: 9 }), 2)
      for (const id of ['1', '2']) equal(await store.findDispatch(TENANT, id), undefined)
    }),
  ]
}

function first(): readonly DispatchCase[] {
  const b = { channel: 'b' }
  const FAILED = 'failed provider_rejected'
  return [
    contractCase(
      'with the route first, what is replaced and what is retried have their turns in order',
      async (harness) => {
        const { accept, fail, states, claimOne } = harness
        const deliveries = [broken('x'), delivery('y', b), broken('z', { channel: 'c' })]
        await accept('1', { route: 'first', deliveries, source: SOURCE })
        await fail('b')
        const planned = [delivery('x'), delivery('z', { channel: 'c', status: 'held' })]
        matches(await replan(harness, '1', planned), {
          changed: [{ deliveryId: 'x', status: 'queued' }, { deliveryId: 'y', status: 'held' }, { deliveryId: 'z' }],
        })
        equal(await states('1'), ['queued', 'held', 'held'])
        await fail()
        matches(await claimOne('b'), { deliveryId: 'y', attempts: 2, attemptsBefore: 1 })
      },
    ),

    contractCase('with the route first, what is replaced waits behind what is retried before it', async (harness) => {
      const { accept, fail, states, claimOne } = harness
      await accept('1', { route: 'first', deliveries: [delivery('x'), broken('y', b)], source: SOURCE })
      await fail()
      await replan(harness, '1', [delivery('y', b)])
      equal(await states('1'), ['queued', 'held'])
      await fail()
      equal(await states('1'), [FAILED, 'queued'])
      matches(await claimOne('b'), { deliveryId: 'y', deferred: true })
    }),

    contractCase('with the route first, the first is due when it was planned to be', async (harness) => {
      const { accept, advance, claim, claimOne } = harness
      await accept('1', { route: 'first', deliveries: [broken('x'), broken('y', b)], source: SOURCE })
      const planned = [delivery('x', { delayMs: HOUR, deferred: true }), delivery('y', { ...b, status: 'held' })]
      await replan(harness, '1', planned)
      equal((await claim({ a: 1, b: 1 })).deliveries, [])
      await advance(HOUR)
      matches(await claimOne(), { deliveryId: 'x' })
    }),

    contractCase('with the route first, a replan passes over what does not fit', async (harness) => {
      const { accept, states } = harness
      const limits = [{ key: 'l', max: 1, windowMs: 100 * HOUR }]
      await accept('1', { route: 'first', deliveries: [broken('x'), broken('y', b)], source: SOURCE })
      await accept('2', { deliveries: [delivery('z', { channel: 'c', limits })] })
      await replan(harness, '1', [delivery('x', { limits }), delivery('y', { ...b, status: 'held' })])
      equal(await states('1'), ['skipped throttled', 'queued'])
    }),

    contractCase('with the route first, nothing is replaced while something is sent or may yet be', async (harness) => {
      const { store, accept, claimOne, found } = harness
      await accept('1', { route: 'first', deliveries: [broken('x'), delivery('y', b)], source: SOURCE })
      const unchanged = async (what: string) => {
        const before = await found('1')
        const change = await replan(harness, '1', [delivery('x')])
        equal(change, { outcome: 'replanned', changed: [], dispatch: before }, what)
        equal(await found('1'), before, what)
      }
      await unchanged('the next is queued')
      const claimed = await claimOne('b')
      await unchanged('the next is being sent')
      await store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
      await unchanged('the next is sent')
    }),
  ]
}

import { equal, ok } from '../assertions.ts'
import { countDispatches, race } from './racing.ts'
import { replan, replannable, SOURCE } from './replanning.ts'
import { broken, delivery, digested, HOUR, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, idsOf, numbers } from './store-harness.ts'

/** Deliveries that are planned again while others come between. */
export function racingReplanCases(): readonly DispatchCase[] {
  return [
    contractCase('of replans of one version at once one counts', async (harness) => {
      const { store, accept, claim, found } = harness
      for (const id of ['1', '2', '3', '4', '5']) {
        await accept(id, { deliveries: [broken(`${id}x`), broken(`${id}y`, { channel: 'b' })], source: SOURCE })
        const { version } = await replannable(store, id)
        const outcomes = await race(harness, 8, (handle, at) => {
          const content = { text: `${at}` }
          const mine = at < 4 ? delivery(`${id}x`, { content }) : delivery(`${id}y`, { channel: 'b', content })
          return handle.replan(TENANT, id, version, [mine], { expiresInMs: HOUR })
        })
        const names = outcomes.map((one) => one?.outcome)
        equal([countDispatches(names, 'replanned'), countDispatches(names, 'conflict')], [1, 7])
        const winner = names.indexOf('replanned')
        const queued = (await found(id)).deliveries.filter(({ status }) => status === 'queued')
        equal(
          queued.map(({ content }) => content),
          [{ text: `${winner}` }],
        )
        equal((await claim({ a: 9, b: 9 })).deliveries.length, 1)
      }
    }),

    contractCase('what is replaced and cancelled at once is one of the two', async (harness) => {
      const { other, accept, states } = harness
      for (const at of numbers(10)) {
        const id = `${at}`
        await accept(id, { deliveries: [broken(`x${at}`)], source: SOURCE })
        const [, cancelled] = await Promise.all([replan(harness, id, [delivery(`x${at}`)]), other.cancel(TENANT, id)])
        equal(await states(id), [cancelled?.changed.length === 1 ? 'cancelled' : 'queued'])
      }
    }),

    contractCase('what is replaced and removed at once is gone or there, all of it', async (harness) => {
      const { store, other, accept, advance, claim } = harness
      const ids = numbers(12).map((at) => `${at}`)
      for (const id of ids) await accept(id, { deliveries: [broken(`${id}-a`)], source: SOURCE })
      await advance(2 * HOUR)
      const versions = new Map<string, number>()
      for (const id of ids) versions.set(id, (await replannable(store, id)).version)
      const removals: Promise<number>[] = []
      const replans = ids.map((id, at) => {
        if (at % 4 === 2) removals.push(store.removeDispatches({ acceptedForMs: HOUR, limit: 3 }))
        const version = versions.get(id) ?? 0
        return other.replan(TENANT, id, version, [delivery(`${id}-a`)], { expiresInMs: HOUR })
      })
      const replaced = await Promise.all(replans)
      const removed = (await Promise.all(removals)).reduce((sum, count) => sum + count, 0)
      equal(replaced.filter((one) => one?.outcome !== 'replanned').length, removed)
      const kept: string[] = []
      for (const [at, id] of ids.entries()) {
        const found = await store.findDispatch(TENANT, id)
        equal(found !== undefined, replaced[at]?.outcome === 'replanned', id)
        if (found) kept.push(`${id}-a`)
      }
      equal(idsOf((await claim({ a: 99 })).deliveries), kept.sort())
    }),

    contractCase('a limit holds where what failed is replaced at once', async (harness) => {
      const { accept, states } = harness
      const limits = [{ key: 'l', max: 3, windowMs: HOUR }]
      for (const at of numbers(12)) await accept(`${at}`, { deliveries: [broken(`x${at}`)], source: SOURCE })
      await race(harness, 12, (store, at) => replan({ store }, `${at}`, [delivery(`x${at}`, { limits })]))
      const after: string[] = []
      for (const at of numbers(12)) after.push(...(await states(`${at}`)))
      equal([countDispatches(after, 'queued'), countDispatches(after, 'skipped throttled')], [3, 9])
    }),

    contractCase('events that are planned again and accepted at once are in one digest, each once', async (harness) => {
      const { accept, advance, claim } = harness
      const ids = numbers(20).map((at) => `${at}`)
      for (const id of ids.slice(0, 10)) await accept(id, { deliveries: [broken(id)], source: SOURCE })
      await race(harness, 20, async (store, at) => {
        const planned = [digested(`${at}`, { max: 100 })]
        if (at < 10) return void (await replan({ store }, `${at}`, planned))
        return void (await accept(`${at}`, { deliveries: planned }, store))
      })
      await advance(HOUR)
      const [claimed, ...more] = (await claim({ a: 99 })).deliveries
      equal(more, [])
      equal(claimed?.digest?.events.map(({ dispatchId }) => dispatchId).sort(), ids.sort())
    }),

    contractCase(
      'with the route first, what is replaced and retried at once leaves one to be sent',
      async (harness) => {
        const { other, accept, fail, states, claim } = harness
        for (const at of numbers(10)) {
          const id = `${at}`
          const deliveries = [broken(`x${at}`), delivery(`y${at}`, { channel: 'b' })]
          await accept(id, { route: 'first', deliveries, source: SOURCE })
          await fail('b')
          await Promise.all([replan(harness, id, [delivery(`x${at}`)]), other.retry(TENANT, id, { expiresInMs: HOUR })])
          const [x = '', y = ''] = await states(id)
          ok([x, y].filter((state) => state === 'queued').length === 1, `${x}, ${y}: one of them is queued`)
          equal((await claim({ a: 9, b: 9 })).deliveries.length, 1)
        }
      },
    ),
  ]
}

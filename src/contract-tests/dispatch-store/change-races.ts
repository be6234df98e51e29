import { equal, matches, ok } from '../assertions.ts'
import { countDispatches, race, whileClaiming } from './races.ts'
import { replan, replannable, SOURCE } from './replans.ts'
import { broken, delivery, digested, type GivenDispatch, HOUR, proof, RETRY, SENT, TENANT } from './samples.ts'
import { claimOf, type DispatchCase, dispatchCases, idsOf, numbers } from './store-harness.ts'

/** A dispatch with a queued delivery of the channel `a`, and held ones of `b` and `c`. */
const inTurn = (id: string): GivenDispatch => {
  const held = ['b', 'c'].map((channel) => delivery(`${id}-${channel}`, { channel, status: 'held' }))
  return { route: 'first', deliveries: [delivery(`${id}-a`), ...held] }
}

export const changeRaceCases: readonly DispatchCase[] = dispatchCases([], {
  'a concurrent claim and cancel leave one of the two results': async (t) => {
    for (const at of numbers(20)) await t.accept(`${at}`)
    const request = claimOf({ a: 3 })
    const { done: cancelled, claimed } = await whileClaiming(t.other, request, numbers(20), (at) => t.cancel(`${at}`))
    const taken = idsOf(claimed)
    for (const at of numbers(20)) {
      const isTaken = taken.includes(`${at}-a`)
      equal(cancelled[at]?.changed.length, isTaken ? 0 : 1, `${at}`)
      equal(await t.states(`${at}`), [isTaken ? 'sending' : 'cancelled'], `${at}`)
    }
    for (const one of claimed) {
      const settled = await t.store.settle({ ...proof(one), to: 'queued', delayMs: 0, attempt: RETRY })
      equal(settled, { live: true, others: [], cancelled: true })
    }
    equal((await t.store.claim({ ...request, limits: { a: 99 } })).deliveries, [])
  },
  'a delivery that is queued again and cancelled concurrently is cancelled': async (t) => {
    for (const at of numbers(20)) await t.accept(`${at}`)
    const { deliveries } = await t.claim({ a: 99 })
    await Promise.all(
      deliveries.flatMap((one, at) => {
        const settle = () => t.store.settle({ ...proof(one), to: 'queued', delayMs: 0, attempt: RETRY })
        const cancel = () => t.other.cancel(TENANT, one.dispatch.dispatchId)
        return at % 2 === 0 ? [settle(), cancel()] : [cancel(), settle()]
      }),
    )
    for (const at of numbers(20)) equal(await t.states(`${at}`), ['cancelled'], `${at}`)
    equal((await t.claim({ a: 99 })).deliveries, [])
  },
  'a concurrent settlement and cancel report each change once': async (t) => {
    for (const at of numbers(10)) {
      const id = `${at}`
      const deliveries = [delivery(`x${at}`), delivery(`y${at}`, { channel: 'b', status: 'held' })]
      await t.accept(id, { route: 'first', deliveries })
      const mine = proof(await t.claimOne())
      const [settled, cancelled] = await Promise.all([
        t.store.settle({ ...mine, to: 'sent', attempt: SENT }),
        t.other.cancel(TENANT, id),
      ])
      const reported = [...(settled.live ? settled.others : []), ...(cancelled?.changed ?? [])]
      equal(idsOf(reported), [`y${at}`])
      const [x, y = ''] = await t.states(id)
      equal(x, 'sent')
      equal(y.split(' ')[0], reported[0]?.status)
    }
  },
  'an event that joins a digest while another leaves it is in one digest': async (t) => {
    for (const at of numbers(10)) {
      const of = (id: string) => ({ deliveries: [digested(`${id}${at}`, { key: `${at}` })] })
      await t.accept(`old${at}`, of('old'))
      await Promise.all([t.cancel(`old${at}`), t.accept(`new${at}`, of('new'), t.other)])
      equal(await t.states(`old${at}`), ['cancelled'])
      matches(await t.only(`new${at}`), { status: 'queued', eventCount: 1 })
    }
    await t.advance(HOUR)
    const { deliveries } = await t.claim({ a: 99 })
    const events = deliveries.flatMap(({ digest }) => digest?.events.map(({ dispatchId }) => dispatchId) ?? [])
    equal(
      events.sort(),
      numbers(10).map((at) => `new${at}`),
    )
  },
  'of concurrent retries exactly one changes something': async (t) => {
    for (const id of ['1', '2', '3', '4', '5']) {
      await t.accept(id)
      await t.fail()
      const changes = await race(t, 6, (handle) => handle.retry(TENANT, id, { expiresInMs: HOUR }))
      const counts = changes.map((change) => change?.changed.length)
      equal([countDispatches(counts, 1), countDispatches(counts, 0)], [1, 5])
      equal((await t.only(id)).status, 'queued')
      await t.fail()
    }
  },
  'a concurrent removal and retry leave a whole dispatch or none': async (t) => {
    const ids = numbers(20).map((at) => `${at}`)
    for (const id of ids) {
      await t.accept(id)
      await t.fail()
    }
    await t.advance(2 * HOUR)
    const removals: Promise<number>[] = []
    const retries = ids.map((id, at) => {
      if (at % 6 === 2) removals.push(t.store.removeDispatches({ acceptedForMs: HOUR, limit: 5 }))
      return t.other.retry(TENANT, id, { expiresInMs: HOUR })
    })
    const retried = await Promise.all(retries)
    const removed = (await Promise.all(removals)).reduce((sum, count) => sum + count, 0)
    equal(retried.filter((one) => !one).length, removed)
    const kept: string[] = []
    for (const [at, id] of ids.entries()) {
      const found = await t.store.findDispatch(TENANT, id)
      equal(
        found?.deliveries.map(({ status }) => status),
        retried[at]?.changed.map(({ status }) => status),
        id,
      )
      if (found) kept.push(`${id}-a`)
    }
    equal(idsOf((await t.claim({ a: 99 })).deliveries), kept.sort())
  },
  'a limit holds while held deliveries are promoted concurrently': async (t) => {
    const limits = [{ key: 'l', max: 3, windowMs: HOUR }]
    for (const at of numbers(12)) {
      const held = delivery(`y${at}`, { channel: 'b', status: 'held', limits })
      await t.accept(`${at}`, { route: 'first', deliveries: [delivery(`x${at}`), held] })
    }
    const { deliveries } = await t.claim({ a: 99 })
    await race(t, 12, async (handle, at) => {
      const one = deliveries[at]
      ok(one, 'claim hands out every delivery')
      await handle.settle({ ...proof(one), to: 'failed', reason: 'channel_error' })
    })
    const second: string[] = []
    for (const at of numbers(12)) second.push((await t.states(`${at}`))[1] ?? '')
    equal([countDispatches(second, 'queued'), countDispatches(second, 'skipped throttled')], [3, 9])
  },
  'of concurrent replans of one version exactly one wins': async (t) => {
    for (const id of ['1', '2', '3', '4', '5']) {
      await t.accept(id, { deliveries: [broken(`${id}x`), broken(`${id}y`, { channel: 'b' })], source: SOURCE })
      const { version } = await replannable(t.store, id)
      const outcomes = await race(t, 8, (handle, at) => {
        const content = { text: `${at}` }
        const mine = at < 4 ? delivery(`${id}x`, { content }) : delivery(`${id}y`, { channel: 'b', content })
        return handle.replan(TENANT, id, version, [mine], { expiresInMs: HOUR })
      })
      const names = outcomes.map((one) => one?.outcome)
      equal([countDispatches(names, 'replanned'), countDispatches(names, 'conflict')], [1, 7])
      const winner = names.indexOf('replanned')
      const queued = (await t.found(id)).deliveries.filter(({ status }) => status === 'queued')
      equal(
        queued.map(({ content }) => content),
        [{ text: `${winner}` }],
      )
      equal((await t.claim({ a: 9, b: 9 })).deliveries.length, 1)
    }
  },
  'a concurrent replan and cancel leave one of the two results': async (t) => {
    for (const at of numbers(10)) {
      const id = `${at}`
      await t.accept(id, { deliveries: [broken(`x${at}`)], source: SOURCE })
      const [, cancelled] = await Promise.all([replan(t, id, [delivery(`x${at}`)]), t.other.cancel(TENANT, id)])
      equal(await t.states(id), [cancelled?.changed.length === 1 ? 'cancelled' : 'queued'])
    }
  },
  'a concurrent replan and removal leave a whole dispatch or none': async (t) => {
    const ids = numbers(12).map((at) => `${at}`)
    for (const id of ids) await t.accept(id, { deliveries: [broken(`${id}-a`)], source: SOURCE })
    await t.advance(2 * HOUR)
    const versions = new Map<string, number>()
    for (const id of ids) versions.set(id, (await replannable(t.store, id)).version)
    const removals: Promise<number>[] = []
    const replans = ids.map((id, at) => {
      if (at % 4 === 2) removals.push(t.store.removeDispatches({ acceptedForMs: HOUR, limit: 3 }))
      const version = versions.get(id) ?? 0
      return t.other.replan(TENANT, id, version, [delivery(`${id}-a`)], { expiresInMs: HOUR })
    })
    const replaced = await Promise.all(replans)
    const removed = (await Promise.all(removals)).reduce((sum, count) => sum + count, 0)
    equal(replaced.filter((one) => one?.outcome !== 'replanned').length, removed)
    const kept: string[] = []
    for (const [at, id] of ids.entries()) {
      const found = await t.store.findDispatch(TENANT, id)
      equal(found !== undefined, replaced[at]?.outcome === 'replanned', id)
      if (found) kept.push(`${id}-a`)
    }
    equal(idsOf((await t.claim({ a: 99 })).deliveries), kept.sort())
  },
  'a limit holds under concurrent replans': async (t) => {
    const limits = [{ key: 'l', max: 3, windowMs: HOUR }]
    for (const at of numbers(12)) await t.accept(`${at}`, { deliveries: [broken(`x${at}`)], source: SOURCE })
    await race(t, 12, (store, at) => replan({ store }, `${at}`, [delivery(`x${at}`, { limits })]))
    const after: string[] = []
    for (const at of numbers(12)) after.push(...(await t.states(`${at}`)))
    equal([countDispatches(after, 'queued'), countDispatches(after, 'skipped throttled')], [3, 9])
  },
  'concurrent replans and accepts put each event into one digest once': async (t) => {
    const ids = numbers(20).map((at) => `${at}`)
    for (const id of ids.slice(0, 10)) await t.accept(id, { deliveries: [broken(id)], source: SOURCE })
    await race(t, 20, async (store, at) => {
      const planned = [digested(`${at}`, { max: 100 })]
      if (at < 10) return void (await replan({ store }, `${at}`, planned))
      return void (await t.accept(`${at}`, { deliveries: planned }, store))
    })
    await t.advance(HOUR)
    const [claimed, ...more] = (await t.claim({ a: 99 })).deliveries
    equal(more, [])
    equal(claimed?.digest?.events.map(({ dispatchId }) => dispatchId).sort(), ids.sort())
  },
  'with the route first, a concurrent replan and retry queue exactly one delivery': async (t) => {
    for (const at of numbers(10)) {
      const id = `${at}`
      const deliveries = [broken(`x${at}`), delivery(`y${at}`, { channel: 'b' })]
      await t.accept(id, { route: 'first', deliveries, source: SOURCE })
      await t.fail('b')
      await Promise.all([replan(t, id, [delivery(`x${at}`)]), t.other.retry(TENANT, id, { expiresInMs: HOUR })])
      const [x = '', y = ''] = await t.states(id)
      ok([x, y].filter((state) => state === 'queued').length === 1, `exactly one delivery is queued: ${x}, ${y}`)
      equal((await t.claim({ a: 9, b: 9 })).deliveries.length, 1)
    }
  },
  'of concurrent calls of fallBack one changes something': async (t) => {
    for (const at of numbers(8)) {
      await t.accept(`${at}`, inTurn(`${at}`))
      await t.send()
    }
    const calls = numbers(8).flatMap((at) => [t.store, t.other].map((store) => store.fallBack(TENANT, `${at}-a`)))
    const results = await Promise.all(calls)
    equal(results.map((one) => one?.changed.length).sort(), [...Array(8).fill(0), ...Array(8).fill(2)])
  },
  'a concurrent settlement and bounce always continue': async (t) => {
    for (const at of numbers(12)) {
      await t.accept(`${at}`, inTurn(`${at}`))
      const leased = proof(await t.claimOne())
      const settle = () => t.store.settle({ ...leased, to: 'sent', attempt: SENT })
      const bounce = () => t.other.fallBack(TENANT, `${at}-a`)
      await Promise.all(at % 2 === 0 ? [settle(), bounce()] : [bounce(), settle()])
      equal(await t.states(`${at}`), ['sent', 'queued', 'held'], `${at}`)
    }
  },
})

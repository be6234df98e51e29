import type { TimeBounds } from '../../storage/engine/records.ts'
import { equal, ok } from '../assertions.ts'
import { changing, LOST, member, type RecordsCase, readAll, recordsCases, stateOf, stored } from './records-harness.ts'

/** Leeway for records whose clock runs, or is estimated. */
const MARGIN_MS = 10_000
const LONG_MS = 3_600_000

function shown({ earliest, latest }: TimeBounds): string {
  return `${earliest} to ${latest}`
}

export const timeCases: readonly RecordsCase[] = recordsCases([], {
  'now is the time of the records, the same for every handle': async (t) => {
    for (const handle of t.handles) {
      const now = await handle.now()
      ok(now.earliest <= now.latest, `the bounds of the time are in order, got ${shown(now)}`)
      const isNow = now.earliest - MARGIN_MS <= t.now() && t.now() <= now.latest + MARGIN_MS
      ok(isNow, `now is in epoch milliseconds by one clock for all handles, got ${shown(now)} at ${t.now()}`)
    }
  },
  'now does not go back': async (t) => {
    let last = await t.records.now()
    for (const handle of [...t.handles, ...t.handles]) {
      const now = await handle.now()
      ok(now.latest >= last.earliest, `now does not go back, got ${shown(now)} after ${shown(last)}`)
      last = now
    }
    const before = last
    await t.advance(LONG_MS)
    for (const handle of t.handles) {
      const now = await handle.now()
      ok(
        now.earliest > before.latest,
        `now goes on with the time of the records, got ${shown(now)} after ${shown(before)}`,
      )
    }
  },
})

export const durableCases: readonly RecordsCase[] = recordsCases(['durable'], {
  'committed records survive reopening': async (t) => {
    const [kept, changed] = [stored('1', { a: 'x', body: { a: 1 } }), stored('2', { a: 'x' })]
    await t.insert('plugin_records', kept, changed, stored('3', { a: 'x' }))
    await t.insert('members', member('d', 'a'))
    await t.change(
      changing('update', 'plugin_records', { ...changed, a: 'y' }),
      changing('remove', 'plugin_records', stored('3')),
      changing('insert', 'states', stateOf('a')),
    )
    const opened = await t.reopen?.()
    ok(opened, '`create` returned no `reopen`: return one, or set `durable: false`')
    const survives = `${LOST}, also after reopening`
    equal(
      await readAll(opened, 'plugin_records', [
        ['k', 't', '1'],
        ['k', 't', '3'],
      ]),
      [kept],
      survives,
    )
    equal(await readAll(opened, 'plugin_records', [['k', 't', 'x']], 'by_a'), [kept], survives)
    const moved = { ...changed, a: 'y', version: 2 }
    equal(await readAll(opened, 'plugin_records', [['k', 't', 'y']], 'by_a'), [moved], survives)
    equal(
      [await readAll(opened, 'members', [['d']]), await readAll(opened, 'states', [['a']])],
      [[member('d', 'a')], [stateOf('a')]],
      survives,
    )
    const outdated = changing('update', 'plugin_records', { ...changed, a: 'z' })
    equal(await opened.commit([outdated]), false, 'versions survive reopening')
  },
})

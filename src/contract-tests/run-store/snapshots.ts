import { MAX_RUNS_ABOVE } from '../../model/run-tree-limit.ts'
import { noTotals } from '../../model/totals.ts'
import { equal, ok, rejects } from '../assertions.ts'
import { adding, changesOf, fullTotals, PENDING, QUIET, runIds, runKeyOf, stateOf, sumOf } from './run-fixtures.ts'
import { type RunStoreCase, runCases } from './run-harness.ts'

const TOP = { ...QUIET, top: true } as const

/** What a merge finds, and what it gives. */
export const snapshotCases: readonly RunStoreCase[] = runCases([], {
  'a merge sees nothing where nothing is stored': async (t) => {
    equal(await t.see('r'), { ancestors: [] })
  },
  'a merge sees the run and the session as they are stored': async (t) => {
    const run = await t.put('r', { counts: { steps: 3 }, status: 'waiting' }, { derived: PENDING })
    const { run: seen, session } = await t.see('r')
    equal(seen, run)
    equal(session, await t.session())
    equal(await t.run('r'), run)
  },
  'a merge sees the run also from another session: its id is unique within the tenant': async (t) => {
    const run = await t.put('r')
    const seen = await t.see(runKeyOf('r', { sessionId: 'other' }))
    equal(seen.run, run)
    equal(seen.session, undefined, 'the session is that of the key')
  },
  'a merge sees the session of its key before that has any runs': async (t) => {
    const session = await t.store.openSession('t', 's')
    equal((await t.see('r')).session, session)
  },
  'a merge sees the sum of what was added to its session': async (t) => {
    const adds = [fullTotals('a', 1, '0.1'), fullTotals('b', 2, '0.2'), fullTotals('a', 4, '0.7')]
    await t.put('r')
    for (const session of adds) await t.decide('r', adding({ session }))
    equal((await t.see('new')).session?.totals, sumOf(...adds))
  },
  'a merge sees the sum of what was added below its run, which need not be stored': async (t) => {
    const adds = [fullTotals('a', 1, '0.1'), fullTotals('b', 2, '0.2'), fullTotals('a', 4, '0.7')]
    await t.put('child')
    for (const add of adds) await t.decide('child', adding({ descendants: [{ runId: 'parent', add }] }))
    equal(await t.descendants('parent'), sumOf(...adds))
    await t.put('parent')
    equal(await t.descendants('parent'), sumOf(...adds))
    equal(await t.descendants('child'), undefined, 'nothing was added below the child')
  },
  'what is below a run is summed up for each session and each run by itself': async (t) => {
    const add = fullTotals('a', 1, '0.1')
    const totalsChanges = changesOf({ descendants: [{ runId: 'parent', add }] })
    await t.put('child', {}, { totalsChanges })
    for (const key of [
      runKeyOf('Parent'),
      runKeyOf('parent', { sessionId: 'other' }),
      runKeyOf('parent', { tenant: 'other' }),
    ])
      equal(await t.descendants(key), undefined)
    equal(await t.descendants('parent'), add)
  },
  'a merge that decides nothing makes and changes nothing': async (t) => {
    const merged = await t.store.mergeRun(runKeyOf('r', { parentRunId: 'p' }), () => ({ result: 1 }))
    equal(merged, { result: 1 })
    equal(await t.run('r'), undefined)
    equal(await t.session(), undefined)
    const run = await t.put('r')
    const session = await t.session()
    await t.advance(1_000)
    equal(await t.store.mergeRun(runKeyOf('r'), () => ({ result: 2 })), { result: 2, run })
    equal(await t.run('r'), run)
    equal(await t.session(), session)
  },
  'a merge gives what was decided, be it what it may, and the run as it is stored now': async (t) => {
    for (const result of [undefined, null, 0, '', false, new Map([['a', 1]]), () => 1]) {
      const merged = await t.store.mergeRun(runKeyOf('r'), () => ({
        result,
        state: stateOf(runKeyOf('r')),
        derived: QUIET,
      }))
      ok(Object.is(merged.result, result), 'a result is passed through as it is')
      equal(merged.run, await t.run('r'))
    }
  },
  'what a decision throws is thrown on, and nothing has changed': async (t) => {
    const broken = new Error('broken on purpose')
    const breakOff = (): never => {
      throw broken
    }
    ok(
      (await rejects(t.store.mergeRun(runKeyOf('r'), breakOff), 'a decision throws')) === broken,
      'that is what is thrown',
    )
    equal(await t.run('r'), undefined)
    equal(await t.session(), undefined)
    const run = await t.put('r')
    const session = await t.session()
    await t.advance(1_000)
    await rejects(t.store.mergeRun(runKeyOf('r'), breakOff), 'a decision throws')
    equal(await t.run('r'), run)
    equal(await t.session(), session)
  },
  'after a decision that threw, the run and its session can be merged as ever': async (t) => {
    const breakOff = (): never => {
      throw new Error('broken on purpose')
    }
    for (let times = 0; times < 30; times++)
      await rejects(t.store.mergeRun(runKeyOf('r'), breakOff), 'a decision throws')
    equal((await t.put('r')).revision, 1)
    equal((await t.session())?.totals, noTotals())
  },
  'what the last of several decisions gave is what is stored and what is given': async (t) => {
    let times = 0
    const merges = Array.from({ length: 20 }, () =>
      t.store.mergeRun(runKeyOf('r'), () => {
        const counts = { times: ++times }
        return { result: counts.times, state: stateOf(runKeyOf('r'), { counts }), derived: QUIET }
      }),
    )
    for (const { result, run } of await Promise.all(merges)) equal(run?.state.counts, { times: result })
  },
  'above a run is nothing where neither its state nor the key names a parent': async (t) => {
    await t.put('r')
    equal(await t.ancestors('r'), [])
  },
  'the parent is the one that the key names, for a run that names none or is not stored': async (t) => {
    const parent = await t.put('p')
    equal(await t.ancestors(runKeyOf('r', { parentRunId: 'p' })), [{ runId: 'p', run: parent }])
    await t.put('r')
    equal(await t.ancestors(runKeyOf('r', { parentRunId: 'p' })), [{ runId: 'p', run: parent }])
  },
  'the parent that the state names comes before the one that the key names': async (t) => {
    await t.put('r', { parentRunId: 'p' })
    equal(await t.ancestorIds(runKeyOf('r', { parentRunId: 'q' })), ['p'])
    await t.put('r', { parentRunId: 'o' })
    equal(await t.ancestorIds(runKeyOf('r', { parentRunId: 'q' })), ['o'])
  },
  'the runs above are there nearest first, each as it is stored and with what was added below it': async (t) => {
    const [low, middle, high] = [fullTotals('low', 1, '0.1'), fullTotals('mid', 2, '0.2'), fullTotals('high', 3, '0.3')]
    await t.putChain(['r', 'low', 'middle', 'high'])
    const descendants = [
      { runId: 'middle', add: middle },
      { runId: 'low', add: low },
      { runId: 'high', add: high },
    ]
    await t.decide('r', adding({ descendants }))
    equal(await t.ancestors('r'), [
      { runId: 'low', run: await t.run('low'), descendants: low },
      { runId: 'middle', run: await t.run('middle'), descendants: middle },
      { runId: 'high', run: await t.run('high'), descendants: high },
    ])
  },
  [`up to ${MAX_RUNS_ABOVE} runs are above one, and no more are looked at`]: async (t) => {
    const chain = runIds(MAX_RUNS_ABOVE + 9)
    await t.putChain(chain)
    for (const depth of [0, 1, 2, MAX_RUNS_ABOVE - 1, MAX_RUNS_ABOVE, MAX_RUNS_ABOVE + 1, MAX_RUNS_ABOVE + 8]) {
      const from = chain.length - 1 - depth
      const found = await t.ancestors(`r${from}`)
      equal(
        found.map(({ runId, run }) => [runId, run?.state.runId]),
        chain.slice(from + 1, from + 1 + MAX_RUNS_ABOVE).map((runId) => [runId, runId]),
      )
    }
  },
  'a parent that is not stored is the last, with what was added below it': async (t) => {
    const add = fullTotals('a', 1, '0.1')
    await t.put('r', { parentRunId: 'p' })
    equal(await t.ancestors('r'), [{ runId: 'p' }])
    await t.decide('r', adding({ descendants: [{ runId: 'p', add }] }))
    equal(await t.ancestors('r'), [{ runId: 'p', descendants: add }])
  },
  'a parent in another session or of another tenant is as good as not stored, and the last': async (t) => {
    await t.put(runKeyOf('elsewhere', { sessionId: 'other' }), { parentRunId: 'grand' })
    await t.put(runKeyOf('foreign', { tenant: 'other' }), { parentRunId: 'grand' })
    await t.put('grand')
    for (const parentRunId of ['elsewhere', 'foreign']) {
      equal(await t.ancestors(runKeyOf('new', { parentRunId })), [{ runId: parentRunId }])
      await t.put(`below-${parentRunId}`, { parentRunId })
      equal(await t.ancestors(`below-${parentRunId}`), [{ runId: parentRunId }])
    }
  },
  'a run whose account says top is the last above another, and has none above itself': async (t) => {
    await t.putChain(['r', 'low', 'high', 'highest'])
    await t.decide('high', { derived: TOP })
    equal(await t.ancestorIds('r'), ['low', 'high'])
    equal(await t.ancestors('high'), [])
    equal(await t.ancestors(runKeyOf('high', { parentRunId: 'other' })), [])
    await t.decide('high', { derived: QUIET })
    equal(await t.ancestorIds('r'), ['low', 'high', 'highest'])
  },
  'runs that are above one another are each listed once': async (t) => {
    await t.putChain(['r', 'a', 'b', 'c', 'a'])
    await t.put('a', { parentRunId: 'b' })
    equal(await t.ancestorIds('r'), ['a', 'b', 'c'])
    equal(await t.ancestorIds(runKeyOf('new', { parentRunId: 'c' })), ['c', 'a', 'b'])
  },
  'a run that is met again above itself is the last': async (t) => {
    await t.putChain(['a', 'b', 'c', 'a'])
    const run = await t.put('a', { parentRunId: 'b' })
    equal(await t.ancestorIds('a'), ['b', 'c', 'a'])
    equal((await t.ancestors('a')).at(-1), { runId: 'a', run })
    equal(await t.ancestorIds('b'), ['c', 'a', 'b'])
  },
  'a run that is its own parent is above itself once, stored or not': async (t) => {
    equal(await t.ancestors(runKeyOf('r', { parentRunId: 'r' })), [{ runId: 'r' }])
    const run = await t.put('r', { parentRunId: 'r' })
    equal(await t.ancestors('r'), [{ runId: 'r', run }])
  },
  'a run that is not stored yet is met again above itself, where its parent names it': async (t) => {
    await t.put('p', { parentRunId: 'r' })
    equal(await t.ancestorIds(runKeyOf('r', { parentRunId: 'p' })), ['p', 'r'])
  },
  'a removed run is above others like one that was never stored, and what was added below it stays': async (t) => {
    const add = fullTotals('a', 1, '0.1')
    await t.putChain(['r', 'p', 'grand'])
    await t.put('p', { parentRunId: 'grand', status: 'completed' })
    await t.decide('r', adding({ descendants: [{ runId: 'p', add }] }))
    await t.advance(10_000)
    equal(await t.store.removeRuns({ status: ['completed'], unchangedForMs: 1_000, limit: 10 }), 1)
    equal(await t.ancestors('r'), [{ runId: 'p', descendants: add }])
  },
})

import { equal, ok, rejects } from '../../../../src/contract-tests/assertions.ts'
import {
  adding,
  changesOf,
  fullTotals,
  PENDING,
  QUIET,
  runIds,
  runKeyOf,
  stateOf,
  sumOf,
} from '../../../../src/contract-tests/run-store/run-fixtures.ts'
import { type RunStoreCase, runCases } from '../../../../src/contract-tests/run-store/run-harness.ts'
import { MAX_ANCESTORS } from '../../../../src/model/run-tree-limit.ts'
import { noTotals } from '../../../../src/model/totals.ts'
import type { RunAncestor } from '../../../../src/ports/run-store.ts'

const TOP = { ...QUIET, top: true } as const

export const snapshotCases: readonly RunStoreCase[] = runCases([], {
  'the snapshot of an empty store is empty': async (t) => {
    equal(await t.see('r'), { ancestors: [] })
  },
  'the snapshot has the stored run and session': async (t) => {
    const run = await t.put('r', { counts: { steps: 3 }, status: 'waiting' }, { derived: PENDING })
    const { run: seen, session } = await t.see('r')
    equal(seen, run)
    equal(session, await t.session())
    equal(await t.run('r'), run)
  },
  'the snapshot has the session of the key before it has runs': async (t) => {
    const session = await t.store.openSession('t', 's')
    equal((await t.see('r')).session, session)
  },
  'the snapshot has the totals of the session': async (t) => {
    const adds = [fullTotals('a', 1, '0.1'), fullTotals('b', 2, '0.2'), fullTotals('a', 4, '0.7')]
    await t.put('r')
    for (const session of adds) await t.decide('r', adding({ session }))
    equal((await t.see('new')).session?.totals, sumOf(...adds))
  },
  'the snapshot has the totals below the run, stored or not': async (t) => {
    const adds = [fullTotals('a', 1, '0.1'), fullTotals('b', 2, '0.2'), fullTotals('a', 4, '0.7')]
    await t.put('child')
    for (const add of adds) await t.decide('child', adding({ descendants: [{ runId: 'parent', add }] }))
    equal(await t.descendants('parent'), sumOf(...adds))
    await t.put('parent')
    equal(await t.descendants('parent'), sumOf(...adds))
    equal(await t.descendants('child'), undefined, 'a child without children has no totals below it')
  },
  'totals below a run are separate for each session and run': async (t) => {
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
  'a merge that decides nothing changes nothing': async (t) => {
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
  'a merge returns the result of the decision and the stored run': async (t) => {
    for (const result of [undefined, null, 0, '', false, new Map([['a', 1]]), () => 1]) {
      const merged = await t.store.mergeRun(runKeyOf('r'), () => ({
        result,
        state: stateOf(runKeyOf('r')),
        derived: QUIET,
      }))
      ok(Object.is(merged.result, result), 'a merge returns the very result of the decision')
      equal(merged.run, await t.run('r'))
    }
  },
  'a decision that throws changes nothing, and the merge throws the same error': async (t) => {
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
  'a run can be merged after decisions that threw': async (t) => {
    const breakOff = (): never => {
      throw new Error('broken on purpose')
    }
    for (let times = 0; times < 30; times++)
      await rejects(t.store.mergeRun(runKeyOf('r'), breakOff), 'a decision throws')
    equal((await t.put('r')).revision, 1)
    equal((await t.session())?.totals, noTotals())
  },
  'a run without a parent has no ancestors': async (t) => {
    await t.put('r')
    equal(await t.ancestors('r'), [])
  },
  'the key names the parent of a run whose state names none': async (t) => {
    const parent = await t.put('p')
    equal(await t.ancestors(runKeyOf('r', { parentRunId: 'p' })), [{ runId: 'p', run: parent }])
    await t.put('r')
    equal(await t.ancestors(runKeyOf('r', { parentRunId: 'p' })), [{ runId: 'p', run: parent }])
  },
  'the ancestors of the stored parent and those of another parent in the key are listed apart': async (t) => {
    await t.putChain(['r', 'p', 'top'])
    await t.putChain(['q', 'high'])
    const both = await t.see(runKeyOf('r', { parentRunId: 'q' }))
    equal(runIdsOfAncestors(both.ancestors), ['p', 'top'])
    equal(runIdsOfAncestors(both.newAncestors), ['q', 'high'])
    const same = await t.see(runKeyOf('r', { parentRunId: 'p' }))
    equal(runIdsOfAncestors(same.ancestors), ['p', 'top'])
    equal(same.newAncestors, undefined)
  },
  'a parent that only an agent names counts until an application names one': async (t) => {
    await t.put('p')
    const state = stateOf(runKeyOf('r'), {}, { parentRunId: 'p' })
    await t.decide('r', { state, derived: QUIET })
    equal(await t.ancestorIds('r'), ['p'])
    await t.decide('r', { state: stateOf(runKeyOf('r'), { parentRunId: 'q' }, { parentRunId: 'p' }) })
    equal(await t.ancestorIds('r'), ['q'])
  },
  "a run at the top of the agents' totals alone still has ancestors": async (t) => {
    await t.putChain(['r', 'p', 'q'])
    await t.decide('p', { derived: { ...QUIET, top: 'agent' } })
    equal(await t.ancestorIds('r'), ['p', 'q'])
    equal(await t.ancestorIds('p'), ['q'])
  },
  'ancestors are listed nearest first, each with the totals below it': async (t) => {
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
  [`a run has at most ${MAX_ANCESTORS} ancestors`]: async (t) => {
    const chain = runIds(MAX_ANCESTORS + 9)
    await t.putChain(chain)
    for (const depth of [0, 1, 2, MAX_ANCESTORS - 1, MAX_ANCESTORS, MAX_ANCESTORS + 1, MAX_ANCESTORS + 8]) {
      const from = chain.length - 1 - depth
      const found = await t.ancestors(`r${from}`)
      equal(
        found.map(({ runId, run }) => [runId, run?.state.runId]),
        chain.slice(from + 1, from + 1 + MAX_ANCESTORS).map((runId) => [runId, runId]),
      )
    }
  },
  'a parent that is not stored is the last ancestor, with the totals below it': async (t) => {
    const add = fullTotals('a', 1, '0.1')
    await t.put('r', { parentRunId: 'p' })
    equal(await t.ancestors('r'), [{ runId: 'p' }])
    await t.decide('r', adding({ descendants: [{ runId: 'p', add }] }))
    equal(await t.ancestors('r'), [{ runId: 'p', descendants: add }])
  },
  'a parent in another session or tenant counts as not stored': async (t) => {
    await t.put(runKeyOf('elsewhere', { sessionId: 'other' }), { parentRunId: 'grand' })
    await t.put(runKeyOf('foreign', { tenant: 'other' }), { parentRunId: 'grand' })
    await t.put('grand')
    for (const parentRunId of ['elsewhere', 'foreign']) {
      equal(await t.ancestors(runKeyOf('new', { parentRunId })), [{ runId: parentRunId }])
      await t.put(`below-${parentRunId}`, { parentRunId })
      equal(await t.ancestors(`below-${parentRunId}`), [{ runId: parentRunId }])
    }
  },
  'a run whose derived data says top is the last ancestor, and has none itself': async (t) => {
    await t.putChain(['r', 'low', 'high', 'highest'])
    await t.decide('high', { derived: TOP })
    equal(await t.ancestorIds('r'), ['low', 'high'])
    equal(await t.ancestors('high'), [])
    const renamed = await t.see(runKeyOf('high', { parentRunId: 'highest' }))
    equal(renamed.ancestors, [])
    equal(runIdsOfAncestors(renamed.newAncestors), ['highest'])
    await t.decide('high', { derived: QUIET })
    equal(await t.ancestorIds('r'), ['low', 'high', 'highest'])
  },
  'ancestors in a cycle are listed once each': async (t) => {
    await t.putChain(['r', 'a', 'b', 'c', 'a'])
    await t.put('a', { parentRunId: 'b' })
    equal(await t.ancestorIds('r'), ['a', 'b', 'c'])
    equal(await t.ancestorIds(runKeyOf('new', { parentRunId: 'c' })), ['c', 'a', 'b'])
  },
  'a run that is its own ancestor is the last ancestor': async (t) => {
    await t.putChain(['a', 'b', 'c', 'a'])
    const run = await t.put('a', { parentRunId: 'b' })
    equal(await t.ancestorIds('a'), ['b', 'c', 'a'])
    equal((await t.ancestors('a')).at(-1), { runId: 'a', run })
    equal(await t.ancestorIds('b'), ['c', 'a', 'b'])
  },
  'a run that is its own parent is its only ancestor, stored or not': async (t) => {
    equal(await t.ancestors(runKeyOf('r', { parentRunId: 'r' })), [{ runId: 'r' }])
    const run = await t.put('r', { parentRunId: 'r' })
    equal(await t.ancestors('r'), [{ runId: 'r', run }])
  },
  'a run that is not stored is its own ancestor when its parent names it': async (t) => {
    await t.put('p', { parentRunId: 'r' })
    equal(await t.ancestorIds(runKeyOf('r', { parentRunId: 'p' })), ['p', 'r'])
  },
  'a removed run counts as not stored, and the totals below it stay': async (t) => {
    const add = fullTotals('a', 1, '0.1')
    await t.putChain(['r', 'p', 'grand'])
    await t.put('p', { parentRunId: 'grand', status: 'completed' })
    await t.decide('r', adding({ descendants: [{ runId: 'p', add }] }))
    await t.advance(10_000)
    equal(await t.store.removeRuns({ status: ['completed'], unchangedForMs: 1_000, limit: 10 }), 1)
    equal(await t.ancestors('r'), [{ runId: 'p', descendants: add }])
  },
})

function runIdsOfAncestors(ancestors: readonly RunAncestor[] = []): readonly string[] {
  return ancestors.map(({ runId }) => runId)
}

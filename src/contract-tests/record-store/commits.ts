import { isSallyportError } from '../../errors.ts'
import type { CommitUnit, RecordChange } from '../../ports/record-store.ts'
import { equal, matches, ok, rejects } from '../assertions.ts'
import { acceptance, keyed, TENANT as OWNER } from '../dispatch-store/samples.ts'
import {
  commitAtOnce,
  committed,
  conflicts,
  insert,
  named,
  numbers,
  type RecordHarness,
  type RecordStoreCase,
  recordCases,
  update,
} from './record-harness.ts'

/** Fails unless the unit is refused as invalid, and no record of the tenant is stored. */
async function refuses(t: RecordHarness, unit: CommitUnit): Promise<void> {
  const cause = await rejects(t.store.commitUnit(unit), 'the commit is refused')
  ok(isSallyportError(cause) && cause.code === 'option_invalid', `its error is option_invalid, got ${cause}`)
  equal(await t.keys(), [])
}

export const commitCases: readonly RecordStoreCase[] = recordCases([], {
  'insertions, updates and removals of one commit are stored together': async (t) => {
    await t.put({ key: 'a', sort: ['x'], body: { n: 1 } }, { key: 'b' }, { key: 'c' })
    const [a, b, c] = [await t.stored('a'), await t.stored('b'), await t.stored('c')]
    const changes: readonly RecordChange[] = [
      update(a, { sort: ['y'], body: { n: 2 } }),
      { do: 'remove', record: b, version: b.version },
      insert({ key: 'd', sort: ['x'] }),
      { do: 'compare', record: c, version: c.version },
    ]
    equal(await t.commit(changes), { outcome: 'committed', answers: [], cancelled: [] })
    equal(
      [await t.keys(), await t.keys({ by: 0 })],
      [
        ['a', 'c', 'd'],
        ['d', 'a'],
      ],
    )
    const changed = await t.stored('a')
    equal(changed.body, { n: 2 })
    ok(changed.version !== a.version, 'an update gives another version')
    equal(await t.stored('c'), c)
  },
  'a conflict names all of its records, and nothing is stored': async (t) => {
    const keys = ['compared', 'kept', 'removed', 'updated', 'valid']
    await t.put(...keys.map((key) => ({ key })))
    const stale = new Map<string, number>()
    for (const key of keys) {
      const before = await t.stored(key)
      stale.set(key, before.version)
      if (key !== 'valid') committed(await t.commit([update(before, { body: { changed: true } })]))
    }
    const all = await t.list()
    const version = (key: string): number => stale.get(key) ?? 0
    const changes: readonly RecordChange[] = [
      insert({ key: 'new' }),
      { do: 'update', record: insert({ key: 'valid' }).record as never, version: version('valid') },
      { do: 'update', record: insert({ key: 'updated' }).record as never, version: version('updated') },
      { do: 'compare', record: named('compared'), version: version('compared') },
      { do: 'remove', record: named('removed'), version: version('removed') },
      insert({ key: 'kept' }),
    ]
    conflicts(await t.commit(changes), ['compared', 'kept', 'removed', 'updated'])
    equal(await t.list(), all)
  },
  'a change of a missing record is a conflict': async (t) => {
    await t.put({ key: 'a' }, { key: 'b' }, { key: 'c' })
    const before = await t.list()
    for (const { key } of before) await t.change(key, () => undefined)
    const [a, b, c] = before
    ok(a && b && c, 'three records were stored')
    const changes: readonly RecordChange[] = [
      update(a, {}),
      { do: 'remove', record: b, version: b.version },
      { do: 'compare', record: c, version: c.version },
    ]
    conflicts(await t.commit(changes), ['a', 'b', 'c'])
    await t.put({ key: 'a' }, { key: 'b' }, { key: 'c' })
    conflicts(await t.commit(changes), ['a', 'b', 'c'])
  },
  'records of one key and another kind or tenant are changed in one commit': async (t) => {
    const names = [{}, { kind: 'contract.others' }, { tenant: 'T' }, { tenant: '' }, { key: 'A' }]
    await t.put(...names.map((name, at) => ({ key: 'a', body: { at }, ...name })))
    for (const [at, { key = 'a', ...name }] of names.entries()) equal((await t.stored(key, name)).body, { at })
  },
  'of concurrent commits that insert one record exactly one is stored': async (t) => {
    const units = numbers(10).map((at) => ({ changes: [insert({ key: 'a' }), insert({ key: `own${at}` })] }))
    const outcomes = await commitAtOnce(t, units)
    equal(outcomes.filter(({ outcome }) => outcome === 'committed').length, 1)
    for (const outcome of outcomes) if (outcome.outcome !== 'committed') conflicts(outcome, ['a'])
    const winner = outcomes.findIndex(({ outcome }) => outcome === 'committed')
    equal((await t.keys()).toSorted(), ['a', `own${winner}`])
  },
  'of concurrent commits that change one version exactly one is stored': async (t) => {
    await t.put({ key: 'a' })
    const a = await t.stored('a')
    const units = numbers(10).map((at): CommitUnit => {
      const change = at % 3 === 0 ? ({ do: 'remove', record: a, version: a.version } as const) : update(a, {})
      return { changes: [change, insert({ key: `own${at}` })] }
    })
    const outcomes = await commitAtOnce(t, units)
    const winner = outcomes.findIndex(({ outcome }) => outcome === 'committed')
    for (const [at, outcome] of outcomes.entries()) if (at !== winner) conflicts(outcome, ['a'])
    equal((await t.keys()).toSorted(), winner % 3 === 0 ? [`own${winner}`] : ['a', `own${winner}`])
  },
  'of two concurrent commits that compare what the other one changes exactly one is stored': async (t) => {
    for (const round of numbers(5)) {
      const keys = [`a${round}`, `b${round}`]
      await t.put(...keys.map((key) => ({ key })))
      const [a, b] = [await t.stored(keys[0] ?? ''), await t.stored(keys[1] ?? '')]
      const units = [[a, b] as const, [b, a] as const].map(([one, two]): CommitUnit => {
        return { changes: [{ do: 'compare', record: one, version: one.version }, update(two, {})] }
      })
      const outcomes = await commitAtOnce(t, units)
      equal(outcomes.map(({ outcome }) => outcome).toSorted(), ['committed', 'conflict'])
    }
  },
  'a commit has up to 500 changes': async (t) => {
    const changes = numbers(501).map((at) => insert({ key: `k${1_000 + at}` }))
    await refuses(t, { changes })
    committed(await t.commit(changes.slice(0, 500)))
    equal((await t.keys({ limit: 200 })).length, 500)
  },
  'a commit of over 500 acceptances or cancellations is refused': async (t) => {
    const changes = [insert({ key: 'a' })]
    await refuses(t, { accept: numbers(501).map((at) => acceptance(`d${at}`)), changes })
    equal(await t.other.findDispatch(OWNER, 'd0'), undefined)
    await refuses(t, { cancel: numbers(501).map((at) => ({ tenant: OWNER, dispatchId: `d${at}` })), changes })
  },
  'two changes for one record are refused': async (t) => {
    await refuses(t, { changes: [insert({ key: 'a' }), insert({ key: 'b' }), insert({ key: 'a' })] })
    await refuses(t, { changes: [insert({ key: 'a' }), { do: 'compare', record: named('a'), version: 1 }] })
  },
  'an empty commit stores nothing': async (t) => {
    equal(await t.store.commitUnit({}), { outcome: 'committed', answers: [], cancelled: [] })
    equal(await t.keys(), [])
  },
  'dispatches are accepted and cancelled together with the records of one commit': async (t) => {
    await t.store.accept(acceptance('old'))
    const accept = ['d1', 'd2'].map((id) => acceptance(id))
    const cancel = ['old', 'unknown'].map((dispatchId) => ({ tenant: OWNER, dispatchId }))
    const made = committed(await t.store.commitUnit({ accept, cancel, changes: [insert({ key: 'a' })] }))
    equal(
      made.answers.map(({ dispatchId }) => dispatchId),
      ['d1', 'd2'],
    )
    matches(made.cancelled[0], { changed: [{ deliveryId: 'old-a', status: 'cancelled' }] })
    equal([made.cancelled.length, made.cancelled[1]], [2, undefined])
    matches(await t.other.findDispatch(OWNER, 'old'), { deliveries: [{ status: 'cancelled' }] })
    for (const id of ['d1', 'd2'])
      matches(await t.other.findDispatch(OWNER, id), { deliveries: [{ status: 'queued' }] })
    equal(await t.keys(), ['a'])
  },
  'a refused acceptance is named, and nothing is stored': async (t) => {
    await t.store.accept(acceptance('old', keyed('k', 'f1')))
    const accept = [acceptance('d1'), acceptance('old'), acceptance('d2', keyed('k', 'f2')), acceptance('d3')]
    const cancel = [{ tenant: OWNER, dispatchId: 'old' }]
    const made = await t.store.commitUnit({ accept, cancel, changes: [insert({ key: 'a' })] })
    ok(made.outcome === 'refused', `the commit is refused, got ${made.outcome}`)
    equal(
      made.refused.map(({ at, outcome }) => [at, outcome]),
      [
        [1, 'id_taken'],
        [2, 'key_reused'],
      ],
    )
    for (const id of ['d1', 'd2', 'd3']) equal(await t.other.findDispatch(OWNER, id), undefined)
    matches(await t.other.findDispatch(OWNER, 'old'), { deliveries: [{ status: 'queued' }] })
    equal(await t.keys(), [])
  },
  'a conflict accepts and cancels nothing': async (t) => {
    await t.store.accept(acceptance('old'))
    await t.put({ key: 'a' })
    const cancel = [{ tenant: OWNER, dispatchId: 'old' }]
    const changes = [insert({ key: 'a' }), insert({ key: 'b' })]
    conflicts(await t.store.commitUnit({ accept: [acceptance('d1')], cancel, changes }), ['a'])
    equal(await t.other.findDispatch(OWNER, 'd1'), undefined)
    matches(await t.other.findDispatch(OWNER, 'old'), { deliveries: [{ status: 'queued' }] })
    equal(await t.keys(), ['a'])
  },
})

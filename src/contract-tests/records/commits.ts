import type { Change } from '../../storage/engine/records.ts'
import { equal } from '../assertions.ts'
import {
  ACCEPTED,
  COMPARED,
  changing,
  counter,
  LOST,
  member,
  numbers,
  type RecordsCase,
  type RecordsHarness,
  recordsCases,
  runDerived,
  runKey,
  runOf,
  runState,
  stateOf,
  sumOf,
  UNTOUCHED,
} from './records-harness.ts'

/** Commits that must conflict: `a` has version 5, and `gone` does not exist. */
const CONFLICTS: readonly (readonly [what: string, conflict: Change])[] = [
  ['inserts a record that exists', changing('insert', 'states', stateOf('a', { version: 9 }))],
  ['updates an older version', changing('update', 'states', stateOf('a', { version: 4 }))],
  ['updates a later version', changing('update', 'states', stateOf('a', { version: 6 }))],
  ['removes another version', changing('remove', 'states', { dispatch_id: 'a', version: 4 })],
  ['compares another version', changing('compare', 'states', { dispatch_id: 'a', version: 6 })],
  ['updates a record that does not exist', changing('update', 'states', stateOf('gone'))],
  ['removes a record that does not exist', changing('remove', 'states', { dispatch_id: 'gone', version: 1 })],
  ['compares a record that does not exist', changing('compare', 'states', { dispatch_id: 'gone', version: 1 })],
  [
    'has a conflict in the last of several records',
    changing('update', 'states', stateOf('b'), stateOf('c'), stateOf('a', { version: 4 })),
  ],
]

/** Changes without a conflict, of 20 records. */
function innocent(): readonly Change[] {
  return [
    changing('insert', 'members', ...numbers(6).map((at) => member('new', `${at}`))),
    changing('update', 'counters', ...numbers(6).map((at) => counter(`${at}`, { max: 9 }))),
    changing('remove', 'run_sums', ...numbers(6).map((at) => sumOf(`${at}`))),
    changing('compare', 'counters', counter('6'), counter('7')),
  ]
}

async function seed(t: RecordsHarness): Promise<void> {
  await t.insert('states', stateOf('a', { version: 5 }), stateOf('b'), stateOf('c'))
  await t.insert('counters', ...numbers(8).map((at) => counter(`${at}`)))
  await t.insert('run_sums', ...numbers(6).map((at) => sumOf(`${at}`)))
}

/** All records of the kinds of {@link seed}, in the order of their keys. */
async function everything(t: RecordsHarness): Promise<unknown> {
  const [states, members, counters, sums] = await Promise.all([
    t.findAll('states', []),
    t.findAll('members', []),
    t.findAll('counters', []),
    t.findAll('run_sums', []),
  ])
  const texts = [...states, ...members, ...counters, ...sums].map((record) => JSON.stringify(sorted(record)))
  const indexed = await t.scan('name', { kind: 'counters', index: 'expiring', with: [[]] })
  return [texts.sort(), indexed.toSorted()]
}

function sorted(record: object): unknown {
  return Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1))
}

export const commitCases: readonly RecordsCase[] = recordsCases([], {
  'a commit with one conflict resolves to false and changes nothing': async (t) => {
    await seed(t)
    const before = await everything(t)
    for (const [what, conflict] of CONFLICTS)
      for (const changes of [[conflict], [...innocent(), conflict], [conflict, ...innocent()]]) {
        equal(await t.records.commit(changes), false, `${COMPARED}. This one ${what}.`)
        equal(await everything(t), before, `${UNTOUCHED}. This one ${what}.`)
      }
    await t.change(...innocent(), changing('compare', 'states', stateOf('a', { version: 5 })))
    equal((await t.findAll('members', ['new'])).length, 6, LOST)
    equal((await t.findAll('run_sums', ['t'])).length, 0, LOST)
  },
  'a commit with all versions right makes all changes': async (t) => {
    await seed(t)
    await t.change(...innocent())
    const [members, counters, sums] = [
      await t.findAll('members', ['new']),
      await t.findAll('counters', ['t']),
      await t.findAll('run_sums', ['t']),
    ]
    equal(members.map(({ dispatch_id }) => dispatch_id).sort(), ['0', '1', '2', '3', '4', '5'], LOST)
    const max = counters.map(({ name, max, version }) => `${name} ${max} ${version}`).sort()
    const [updated, compared] = [numbers(6).map((at) => `${at} 9 2`), ['6 1 1', '7 1 1']]
    equal(max, [...updated, ...compared], `${LOST}, and records that it compares stay as they are`)
    equal(sums, [], LOST)
  },
  'a commit of several hundred records makes all changes': async (t) => {
    const ids = numbers(400).map((at) => `${at}`)
    await t.insert('members', ...ids.map((id) => member('d', id)))
    equal((await t.findAll('members', ['d'])).length, 400, LOST)
    await t.insert('states', ...ids.map((id) => stateOf(id)))
    await t.change(changing('update', 'states', ...ids.map((id) => stateOf(id, { outcomes: id }))))
    const states = await t.findAll('states', [])
    equal(states.filter(({ dispatch_id, outcomes }) => dispatch_id === outcomes).length, 400, LOST)
    await t.change(changing('remove', 'members', ...ids.map((id) => member('d', id))))
    equal(await t.findAll('members', ['d']), [], LOST)
  },
  'a commit that only compares changes nothing': async (t) => {
    await t.insert('states', stateOf('a', { version: 5 }), stateOf('b'))
    const compare = changing('compare', 'states', stateOf('a', { version: 5, outcomes: 'other' }), stateOf('b'))
    equal(await t.records.commit([compare]), true, ACCEPTED)
    equal(await t.find('states', ['a']), stateOf('a', { version: 5 }), 'a record that is only compared stays as it is')
  },
  'an update replaces columns, adds 1 to the version and leaves columns that are fixed': async (t) => {
    const old = runOf('1', {
      version: 7,
      user_id: 'u',
      status: 'running',
      open_since: 1,
      created_at: 5,
      tie_breaker: 6,
    })
    await t.insert('runs', old, runOf('2'))
    const given = { version: 7, status: 'failed', model: 'm', tags: 'x', revision: 2, over_since: 3, updated_at: 9 }
    await t.change(changing('update', 'runs', runOf('1', { ...given, created_at: 99, tie_breaker: 98 })))
    equal(
      await t.find('runs', runKey('1')),
      { ...runOf('1', given), created_at: 5, tie_breaker: 6, version: 8 },
      'an update replaces the columns that are not fixed, also by null, and adds 1 to the version',
    )
    equal(await t.find('runs', runKey('2')), runOf('2'), 'an update leaves other records as they are')
    equal(
      await t.scan('run_id', { kind: 'runs', index: 'by_time', with: [['t']], from: [5] }),
      ['1'],
      'an update leaves fixed columns in indexes as they are',
    )
    await t.change(changing('update', 'runs', runOf('1', { ...given, version: 8 })))
    equal((await t.find('runs', runKey('1')))?.version, 9, 'every update adds 1 to the version')
  },
  'an update with null for a kept column leaves its value': async (t) => {
    await t.insert('runs', runOf('1', { state: runState('a'), derived: runDerived('failed') }))
    const kept = 'a kept column stays if the update has null for it, and is replaced if it has a value'
    const check = async (state: string, pending: string): Promise<void> => {
      const run = await t.find('runs', runKey('1'))
      equal([run?.state, run?.derived], [runState(state), runDerived(pending)], kept)
    }
    await t.change(changing('update', 'runs', runOf('1', { state: null, derived: runDerived('completed') })))
    await check('a', 'completed')
    await t.change(changing('update', 'runs', runOf('1', { state: runState('b'), derived: null, version: 2 })))
    await check('b', 'completed')
    await t.change(changing('update', 'runs', runOf('1', { state: null, derived: null, version: 3 })))
    await check('b', 'completed')
  },
  'a commit may remove a record and insert it anew': async (t) => {
    const old = stateOf('a', { version: 5 })
    const changes = (version: number): [Change, Change] => [
      changing('remove', 'states', { dispatch_id: 'a', version }),
      changing('insert', 'states', stateOf('a', { version: version + 100, outcomes: `after ${version}` })),
    ]
    await t.insert('states', old)
    await t.change(...changes(5))
    const anew = 'removals come before insertions: a record that is removed and inserted is the inserted one'
    equal(await t.find('states', ['a']), stateOf('a', { version: 105, outcomes: 'after 5' }), anew)
    await t.change(...changes(105).toReversed())
    equal(await t.find('states', ['a']), stateOf('a', { version: 205, outcomes: 'after 105' }), anew)
    equal(await t.records.commit(changes(105)), false, COMPARED)
    equal(await t.find('states', ['a']), stateOf('a', { version: 205, outcomes: 'after 105' }), UNTOUCHED)
  },
  'a removed record can be inserted again': async (t) => {
    await t.insert('members', member('d', 'a', { number: 1 }))
    await t.change(changing('remove', 'members', member('d', 'a')))
    equal(await t.find('members', ['d', 'a']), undefined, LOST)
    await t.insert('members', member('d', 'a', { number: 2, version: 8 }))
    equal(await t.find('members', ['d', 'a']), member('d', 'a', { number: 2, version: 8 }), LOST)
  },
  'a commit through another handle conflicts with a version that this handle has read': async (t) => {
    await t.insert('states', stateOf('a'))
    const read = await t.records.read([{ kind: 'states', with: [['a']] }])
    equal(await t.other.commit([changing('update', 'states', stateOf('a', { outcomes: 'other' }))]), true, ACCEPTED)
    equal(
      await t.records.commit([changing('update', 'states', { ...read.states?.[0], outcomes: 'own' })]),
      false,
      COMPARED,
    )
    equal((await t.find('states', ['a']))?.outcomes, 'other', UNTOUCHED)
    const again = await t.records.read([{ kind: 'states', with: [['a']] }])
    equal(again.states, [stateOf('a', { outcomes: 'other', version: 2 })], 'a read finds the last committed version')
  },
})

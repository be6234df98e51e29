import type { Change, Records } from '../../storage/engine/records.ts'
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
  readAll,
  recordsCases,
  stateOf,
} from './records-harness.ts'

const CALLS = 20
const MAX_TRIES = 200

/** Handles in turn. */
function handleOf({ records, other }: RecordsHarness, at: number): Records {
  return at % 2 ? records : other
}

/** Concurrent commits, each with a record of its own. Fails unless exactly one succeeds and its record is the only one. */
async function race(t: RecordsHarness, what: string, changesOf: (at: number) => readonly Change[]): Promise<number> {
  const done = await Promise.all(
    numbers(CALLS).map((at) =>
      handleOf(t, at).commit([...changesOf(at), changing('insert', 'members', member(what, `${at}`))]),
    ),
  )
  equal(done.filter(Boolean).length, 1, `${COMPARED}: exactly one of concurrent commits resolves to true`)
  const winner = done.indexOf(true)
  const own = (await t.findAll('members', [what])).map(({ dispatch_id }) => dispatch_id)
  equal(own, [`${winner}`], `${LOST}, and one that resolves to false has changed nothing`)
  return winner
}

export const raceCases: readonly RecordsCase[] = recordsCases([], {
  'of concurrent commits that change one version exactly one succeeds': async (t) => {
    await t.insert('states', stateOf('a'))
    const winner = await race(t, 'update', (at) => [changing('update', 'states', stateOf('a', { outcomes: `${at}` }))])
    equal(await t.find('states', ['a']), stateOf('a', { outcomes: `${winner}`, version: 2 }), LOST)
    await race(t, 'remove', () => [changing('remove', 'states', { dispatch_id: 'a', version: 2 })])
    equal(await t.find('states', ['a']), undefined, LOST)
  },
  'of concurrent commits that insert one record exactly one succeeds': async (t) => {
    const winner = await race(t, 'insert', (at) => [changing('insert', 'counters', counter('a', { max: at }))])
    equal((await t.find('counters', ['t', 'a']))?.max, winner, LOST)
  },
  'of two concurrent commits that each compare what the other changes, one fails': async (t) => {
    for (const at of numbers(CALLS)) {
      const [one, other] = [`${at} one`, `${at} other`]
      await t.insert('states', stateOf(one), stateOf(other))
      const commit = (handle: Records, compared: string, changed: string): Promise<boolean> =>
        handle.commit([
          changing('compare', 'states', stateOf(compared)),
          changing('update', 'states', stateOf(changed)),
        ])
      const done = await Promise.all([commit(t.records, one, other), commit(t.other, other, one)])
      equal(
        done.filter(Boolean).length,
        1,
        `${COMPARED}: a commit that compares a record conflicts with one that changes it`,
      )
      const versions = (await readAll(t.other, 'states', [[one], [other]])).map(({ version }) => version)
      equal(versions.sort(), [1, 2], 'of two commits of which each compares what the other changes, one is made')
    }
  },
  'concurrent commits that compare one record all succeed': async (t) => {
    await t.insert('states', stateOf('a'))
    const done = await Promise.all(
      numbers(CALLS).map((at) =>
        handleOf(t, at).commit([
          changing('compare', 'states', stateOf('a')),
          changing('insert', 'members', member('d', `${at}`)),
        ]),
      ),
    )
    equal(
      done,
      numbers(CALLS).map(() => true),
      `${ACCEPTED}: commits that compare one record do not conflict`,
    )
    equal((await t.findAll('members', ['d'])).length, CALLS, LOST)
  },
  'concurrent commits of different records all succeed': async (t) => {
    await t.insert('counters', ...numbers(CALLS).map((at) => counter(`${at}`)))
    const done = await Promise.all(
      numbers(CALLS).map((at) =>
        handleOf(t, at).commit([
          changing('update', 'counters', counter(`${at}`, { max: at })),
          changing('insert', 'members', member('d', `${at}`)),
          changing('insert', 'states', stateOf(`${at}`)),
        ]),
      ),
    )
    equal(
      done,
      numbers(CALLS).map(() => true),
      `${ACCEPTED}: commits of different records do not conflict`,
    )
    const max = (await t.findAll('counters', ['t'])).map(({ name, max }) => name === `${max}`)
    equal(
      max,
      numbers(CALLS).map(() => true),
      LOST,
    )
    equal((await t.findAll('members', ['d'])).length, CALLS, LOST)
  },
  'concurrent commits lose no change': async (t) => {
    await t.insert('counters', counter('sum', { max: 0 }))
    const add = async (handle: Records): Promise<void> => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const [read] = await readAll(handle, 'counters', [['t', 'sum']])
        if (read && (await handle.commit([changing('update', 'counters', { ...read, max: read.max + 1 })]))) return
      }
      throw new Error(`a commit met a conflict ${MAX_TRIES} times`)
    }
    await Promise.all(numbers(10).map((at) => add(handleOf(t, at))))
    equal((await t.find('counters', ['t', 'sum']))?.max, 10, 'concurrent commits lose no change')
  },
  'a read is of one moment': async (t) => {
    const rounds = 30
    await t.insert('states', stateOf('a', { outcomes: '0' }))
    await t.insert('counters', counter('b', { max: 0 }))
    await t.insert('members', member('0', 'c'))
    let isOver = false
    const write = async (at: number): Promise<void> => {
      await t.change(
        changing('update', 'states', stateOf('a', { outcomes: `${at}`, version: at })),
        changing('update', 'counters', counter('b', { max: at, version: at })),
        changing('remove', 'members', member(`${at - 1}`, 'c')),
        changing('insert', 'members', member(`${at}`, 'c')),
      )
    }
    const writeAll = async (): Promise<void> => {
      try {
        for (let at = 1; at <= rounds; at++) await write(at)
      } finally {
        isOver = true
      }
    }
    const read = async (handle: Records): Promise<void> => {
      while (!isOver) {
        const { states, counters, members } = await handle.read([
          { kind: 'states', with: [['a']] },
          { kind: 'counters', with: [['t', 'b']] },
          { kind: 'members', with: [[]] },
        ])
        const { outcomes, version } = states?.[0] ?? stateOf('none')
        const [at, ids] = [Number(outcomes), members?.map(({ delivery_id }) => delivery_id)]
        equal(
          [version, counters?.[0]?.max, ids],
          [at + 1, at, [`${at}`]],
          'all records of a read are as they were at one moment',
        )
      }
    }
    await Promise.all([writeAll(), ...t.handles.map(read)])
  },
})

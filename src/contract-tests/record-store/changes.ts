import type { NewPluginRecord, PluginRecord } from '../../ports/record-store.ts'
import { equal, ok, rejects } from '../assertions.ts'
import {
  HOUR_MS,
  named,
  numbers,
  type RecordHarness,
  type RecordStoreCase,
  type RecordStoreTrial,
  record,
  recordCases,
  unversioned,
} from './record-harness.ts'

/** Adds one to the counter `a`, and stores it if it is missing. */
async function count(store: RecordStoreTrial['store']): Promise<void> {
  await store.changeRecord(named('a'), (stored) => record({ key: 'a', body: { n: Number(stored?.body.n ?? 0) + 1 } }))
}

/** Calls `run` at the same time, alternately with both handles. */
function atOnce<Result>(
  t: RecordHarness,
  count: number,
  run: (store: RecordStoreTrial['store'], at: number) => Promise<Result>,
): Promise<readonly Result[]> {
  return Promise.all(numbers(count).map((at) => run(at % 2 === 0 ? t.store : t.other, at)))
}

export const changeCases: readonly RecordStoreCase[] = recordCases([], {
  'a change stores a record that is missing': async (t) => {
    const given = record({ key: 'a', sort: ['x'], expiresAt: t.now() + HOUR_MS, body: { of: 'a' } })
    const seen: unknown[] = []
    const result = await t.store.changeRecord(named('a'), (stored) => {
      seen.push(stored)
      return given
    })
    equal(seen, [undefined])
    ok(result === given, 'a change resolves to what `decide` returned')
    equal(unversioned(await t.stored('a')), unversioned(given))
    equal(await t.keys({ by: 0 }), ['a'])
  },
  'a change replaces a record as a whole: its body, sort texts and expiry': async (t) => {
    await t.put({ key: 'a', sort: ['x', 'y'], expiresAt: t.now() - HOUR_MS, body: { of: 'a', list: [1] } })
    const before = await t.stored('a')
    const given = record({ key: 'a', sort: [null, 'z'], body: { of: 'b' } })
    let seen: PluginRecord | undefined
    await t.store.changeRecord(named('a'), (stored) => {
      seen = stored
      return given
    })
    equal(seen, before)
    equal(unversioned(await t.stored('a')), unversioned(given))
    equal([await t.keys({ by: 0 }), await t.keys({ by: 1, from: 'z' })], [[], ['a']])
    equal(await t.removeExpired(), 0)
  },
  'a change may return the record that it was given with other members': async (t) => {
    await t.put({ key: 'a', sort: ['x'], body: { n: 1 } })
    await t.store.changeRecord(named('a'), (stored) => stored && { ...stored, body: { ...stored.body, m: 2 } })
    equal(unversioned(await t.stored('a')), unversioned(record({ key: 'a', sort: ['x'], body: { n: 1, m: 2 } })))
  },
  'a change to `undefined` removes a record': async (t) => {
    await t.put({ key: 'a', sort: ['x'], expiresAt: t.now() - HOUR_MS })
    equal(await t.store.changeRecord(named('a'), () => undefined), undefined)
    equal([await t.read('a'), await t.keys(), await t.keys({ by: 0 }), await t.removeExpired()], [undefined, [], [], 0])
    equal(await t.store.changeRecord(named('a'), () => undefined), undefined)
    await t.store.changeRecord(named('a'), () => record({ key: 'a', body: { again: true } }))
    equal((await t.stored('a')).body, { again: true })
  },
  'a change that returns the record itself leaves it as it is': async (t) => {
    await t.put({ key: 'a', sort: ['x'], expiresAt: t.now() + HOUR_MS, body: { of: 'a' } })
    const before = await t.stored('a')
    equal(await t.store.changeRecord(named('a'), (stored) => stored), before)
    equal(await t.stored('a'), before)
  },
  'each change gives another version, also after a removal': async (t) => {
    const versions = new Set<number>()
    for (const at of numbers(6)) {
      if (at === 3) await t.store.changeRecord(named('a'), () => undefined)
      await t.store.changeRecord(named('a'), () => record({ key: 'a' }))
      versions.add((await t.stored('a')).version)
    }
    equal(versions.size, 6)
  },
  'an error of `decide` is passed on, and nothing changes': async (t) => {
    await t.put({ key: 'a', body: { of: 'a' } })
    const before = await t.stored('a')
    const cause = new Error('no')
    for (const key of ['a', 'b']) {
      const changed = t.store.changeRecord(named(key), (): NewPluginRecord => {
        throw cause
      })
      ok((await rejects(changed, 'the change fails')) === cause, 'it fails with the error of `decide`')
    }
    equal(await t.stored('a'), before)
    equal(await t.read('b'), undefined)
  },
  'a change leaves records of other names as they are': async (t) => {
    const others = [{ kind: 'contract.others' }, { tenant: 'T' }, { tenant: '' }, { key: 'A' }]
    await t.put({ key: 'a' }, ...others.map((name) => ({ key: 'a', ...name })))
    await t.store.changeRecord(named('a'), () => record({ key: 'a', body: { changed: true } }))
    await t.store.changeRecord(named('a'), () => undefined)
    for (const { key = 'a', ...name } of others) equal((await t.stored(key, name)).body, {})
  },
  'of 20 concurrent changes of one record none is lost': async (t) => {
    await atOnce(t, 20, count)
    equal((await t.stored('a')).body, { n: 20 })
  },
  'of concurrent removals of one record exactly one finds it': async (t) => {
    await t.put({ key: 'a' })
    const found = await atOnce(t, 10, async (store) => {
      let seen: PluginRecord | undefined
      await store.changeRecord(named('a'), (stored) => {
        seen = stored
        return undefined
      })
      return seen !== undefined
    })
    equal(found.filter(Boolean).length, 1)
    equal(await t.read('a'), undefined)
  },
  'concurrent changes of several records are all stored': async (t) => {
    const keys = numbers(20).map((at) => `k${10 + at}`)
    await atOnce(t, 20, (store, at) => {
      const key = keys[at] ?? ''
      return store.changeRecord(named(key), () => record({ key, body: { at } }))
    })
    equal(
      (await t.list()).map(({ key, body }) => [key, body]),
      keys.map((key, at) => [key, { at }]),
    )
  },
})

import type { NewPluginRecord, PluginRecord, RecordDraft, RecordName } from '../../ports/record-store.ts'
import { equal, ok, rejects } from '../assertions.ts'
import {
  changeRecord,
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
function count(store: RecordStoreTrial['store']): Promise<void> {
  return changeRecord(store, 'a', (stored) => record({ key: 'a', body: { n: Number(stored?.body.n ?? 0) + 1 } }))
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
    await t.change('a', (stored) => {
      seen.push(stored)
      return given
    })
    equal(seen, [undefined])
    equal(unversioned(await t.stored('a')), unversioned(given))
    equal(await t.keys({ by: 0 }), ['a'])
  },
  'a change replaces a record as a whole: its body, sort texts and expiry': async (t) => {
    await t.put({ key: 'a', sort: ['x', 'y'], expiresAt: t.now() - HOUR_MS, body: { of: 'a', list: [1] } })
    const before = await t.stored('a')
    const given = record({ key: 'a', sort: [null, 'z'], body: { of: 'b' } })
    let seen: PluginRecord | undefined
    await t.change('a', (stored) => {
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
    await t.change('a', (stored) => stored && { ...stored, body: { ...stored.body, m: 2 } })
    equal(unversioned(await t.stored('a')), unversioned(record({ key: 'a', sort: ['x'], body: { n: 1, m: 2 } })))
  },
  'a change to `undefined` removes a record': async (t) => {
    await t.put({ key: 'a', sort: ['x'], expiresAt: t.now() - HOUR_MS })
    await t.change('a', () => undefined)
    equal([await t.read('a'), await t.keys(), await t.keys({ by: 0 }), await t.removeExpired()], [undefined, [], [], 0])
    await t.change('a', () => undefined)
    await t.change('a', () => record({ key: 'a', body: { again: true } }))
    equal((await t.stored('a')).body, { again: true })
  },
  'a change that stores nothing leaves a record as it is': async (t) => {
    await t.put({ key: 'a', sort: ['x'], expiresAt: t.now() + HOUR_MS, body: { of: 'a' } })
    const before = await t.stored('a')
    await t.change('a', (stored) => stored)
    equal(await t.stored('a'), before)
  },
  'each change gives another version, also after a removal': async (t) => {
    const versions = new Set<number>()
    for (const at of numbers(6)) {
      if (at === 3) await t.change('a', () => undefined)
      await t.change('a', () => record({ key: 'a' }))
      versions.add((await t.stored('a')).version)
    }
    equal(versions.size, 6)
  },
  'an error of `change` is passed on, and nothing changes': async (t) => {
    await t.put({ key: 'a', body: { of: 'a' } })
    const before = await t.stored('a')
    const cause = new Error('no')
    for (const key of ['a', 'b']) {
      const changed = t.store.changeRecords([named(key)], (draft): NewPluginRecord => {
        draft.put(record({ key, body: { of: 'another' } }))
        throw cause
      })
      ok((await rejects(changed, 'the change fails')) === cause, 'it fails with the error of `change`')
    }
    equal(await t.stored('a'), before)
    equal(await t.read('b'), undefined)
  },
  'a change leaves records of other names as they are': async (t) => {
    const others = [{ kind: 'contract.others' }, { tenant: 'T' }, { tenant: '' }, { key: 'A' }]
    await t.put({ key: 'a' }, ...others.map((name) => ({ key: 'a', ...name })))
    await t.change('a', () => record({ key: 'a', body: { changed: true } }))
    await t.change('a', () => undefined)
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
      await changeRecord(store, 'a', (stored) => {
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
      return changeRecord(store, key, () => record({ key, body: { at } }))
    })
    equal(
      (await t.list()).map(({ key, body }) => [key, body]),
      keys.map((key, at) => [key, { at }]),
    )
  },
  'a change resolves to its result': async (t) => {
    equal(await t.store.changeRecords([named('a')], (draft) => [draft.get(named('a'))]), [undefined])
    equal(await t.store.changeRecords([], () => 'none'), 'none')
  },
  'records of several kinds and tenants are changed together': async (t) => {
    const names = [named('a'), named('b', { kind: 'contract.others' }), named('c', { tenant: '' }), named('d')]
    await t.put({ key: 'a', body: { n: 1 } }, { key: 'd' })
    await t.store.changeRecords(names, (draft) => {
      const n = names.reduce((sum, name) => sum + Number(draft.get(name)?.body.n ?? 0), 1)
      for (const { key, ...rest } of names) if (key !== 'd') draft.put(record({ key, ...rest, body: { n } }))
      draft.remove(named('d'))
    })
    for (const { key, ...name } of names.slice(0, 3)) equal((await t.stored(key, name)).body, { n: 2 })
    equal(await t.read('d'), undefined)
  },
  'a change finds what it has put and removed': async (t) => {
    await t.put({ key: 'a', sort: ['x'], body: { list: [1] } })
    const [a, b] = [named('a'), named('b')]
    const seen = await t.store.changeRecords([a, b, a], (draft) => {
      const body = { list: [2] }
      draft.put(record({ key: 'b', body }))
      body.list.push(3)
      draft.remove(a)
      const first = [draft.get(a), draft.get(b)?.body]
      draft.put(record({ key: 'a', body: { again: true } }))
      draft.remove(b)
      return [...first, draft.get(a)?.body, draft.get(b)]
    })
    equal(seen, [undefined, { list: [2] }, { again: true }, undefined])
    equal([(await t.stored('a')).body, await t.read('b')], [{ again: true }, undefined])
    equal(await t.keys({ by: 0 }), [])
  },
  'a change reads and stores the records of `names` alone': async (t) => {
    await t.put({ key: 'b' })
    const uses: readonly ((draft: RecordDraft) => unknown)[] = [
      (draft) => draft.get(named('b')),
      (draft) => draft.put(record({ key: 'b', body: { of: 'a' } })),
      (draft) => draft.remove(named('b')),
      (draft) => draft.get(named('a', { tenant: 'T' })),
    ]
    for (const use of uses) await rejects(t.store.changeRecords([named('a')], use), 'another record is refused')
    equal((await t.stored('b')).body, {})
  },
  'of concurrent changes an error of one stores nothing of it and all of the others': async (t) => {
    const keys = numbers(12).map((at) => `k${10 + at}`)
    const all: readonly RecordName[] = [...keys.map((key) => named(key)), named('sum')]
    const ended = await Promise.allSettled(
      keys.map((key, at) =>
        (at % 2 === 0 ? t.store : t.other).changeRecords(all, (draft) => {
          draft.put(record({ key }))
          draft.put(record({ key: 'sum', body: { n: Number(draft.get(named('sum'))?.body.n ?? 0) + 1 } }))
          if (at % 3 === 0) throw new Error('no')
        }),
      ),
    )
    equal(
      ended.map(({ status }) => status),
      keys.map((_, at) => (at % 3 === 0 ? 'rejected' : 'fulfilled')),
    )
    equal(await t.keys(), [...keys.filter((_, at) => at % 3 !== 0), 'sum'])
    equal((await t.stored('sum')).body, { n: 8 })
  },
  'concurrent changes of overlapping records never lose one': async (t) => {
    const names = numbers(6).map((at) => named(`k${at}`))
    await atOnce(t, 18, (store, at) => {
      const own = [0, 1, 2].map((step) => names[(at + step) % 6] ?? named('k0'))
      return store.changeRecords(own, (draft) => {
        for (const { key } of own) {
          const n = Number(draft.get(named(key))?.body.n ?? 0) + 1
          draft.put(record({ key, body: { n } }))
        }
      })
    })
    equal(
      (await t.list()).map(({ body }) => body.n),
      names.map(() => 9),
    )
  },
  '2,500 records are changed together': async (t) => {
    const names = numbers(2_500).map((at) => named(`k${1_000 + at}`))
    const change = (n: number) => (draft: RecordDraft) => {
      const found = names.filter((name) => draft.get(name) !== undefined).length
      for (const { key } of names) draft.put(record({ key, body: { n } }))
      return found
    }
    equal([await t.store.changeRecords(names, change(1)), await t.store.changeRecords(names, change(2))], [0, 2_500])
    equal((await t.stored('k3499')).body, { n: 2 })
  },
})

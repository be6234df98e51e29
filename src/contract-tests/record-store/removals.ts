import { equal, ok } from '../assertions.ts'
import {
  HOUR_MS,
  KIND,
  MARGIN_MS,
  numbers,
  type RecordHarness,
  type RecordStoreCase,
  record,
  recordCases,
} from './record-harness.ts'

/** Ends a loop if a store always removes as many records as it may. */
const MAX_CALLS = 50

/** Stores expired records, an hour apart: the first has expired last. Returns their keys, the oldest first. */
async function fill(t: RecordHarness, count: number): Promise<readonly string[]> {
  const keys = numbers(count).map((at) => `k${10 + at}`)
  const now = t.now()
  await t.put(...keys.map((key, at) => ({ key, sort: ['x'], expiresAt: now - (at + 1) * HOUR_MS })))
  return keys.toReversed()
}

/** Removes records until a call removes fewer than its limit. Returns the number of all. */
async function removeAll(t: RecordHarness, limit: number): Promise<number> {
  let removed = 0
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    const count = await t.removeExpired({ limit })
    ok(count <= limit, `a call removes at most ${limit} records, got ${count}`)
    removed += count
    if (count < limit) return removed
  }
  throw new Error(`${MAX_CALLS} calls have not removed all expired records`)
}

export const removalCases: readonly RecordStoreCase[] = recordCases([], {
  'expired records are removed, and no others': async (t) => {
    await t.put({ key: 'a', sort: ['x'], expiresAt: t.now() - HOUR_MS }, { key: 'b', expiresAt: t.now() + HOUR_MS })
    equal(await t.removeExpired(), 1)
    equal([await t.read('a'), await t.keys(), await t.keys({ by: 0 })], [undefined, ['b'], []])
    equal(await t.removeExpired(), 0)
  },
  'a record is removed when it has been expired for longer than given': async (t) => {
    await t.put({ key: 'a', expiresAt: t.now() + HOUR_MS })
    equal(await t.removeExpired(), 0)
    await t.advance(2 * HOUR_MS - MARGIN_MS)
    equal(await t.removeExpired({ expiredForMs: HOUR_MS }), 0)
    await t.advance(2 * MARGIN_MS)
    equal(await t.removeExpired({ expiredForMs: HOUR_MS + 3 * MARGIN_MS }), 0)
    equal(await t.removeExpired({ expiredForMs: HOUR_MS }), 1)
  },
  'records without an expiry are never removed': async (t) => {
    await t.put({ key: 'a' }, { key: 'b', expiresAt: t.now() - HOUR_MS }, { key: 'c', expiresAt: t.now() - HOUR_MS })
    await t.change('c', () => record({ key: 'c' }))
    await t.advance(10_000 * HOUR_MS)
    equal(await t.removeExpired(), 1)
    equal(await t.keys(), ['a', 'c'])
  },
  'a later expiry counts from its change': async (t) => {
    await t.put({ key: 'a', expiresAt: t.now() - HOUR_MS }, { key: 'b', expiresAt: t.now() + HOUR_MS })
    await t.change('a', (stored) => stored && { ...stored, expiresAt: t.now() + HOUR_MS })
    await t.change('b', (stored) => stored && { ...stored, expiresAt: t.now() - HOUR_MS })
    equal(await t.removeExpired(), 1)
    equal(await t.keys(), ['a'])
  },
  'the oldest records are removed first, at most as many as the limit': async (t) => {
    const [, , , ...left] = await fill(t, 8)
    equal(await t.removeExpired({ limit: 3 }), 3)
    equal((await t.keys()).toSorted(), left.toSorted())
    equal(await t.removeExpired({ limit: 1 }), 1)
    equal((await t.keys()).toSorted(), left.slice(1).toSorted())
  },
  'fewer removed records than the limit mean that none is left': async (t) => {
    await fill(t, 11)
    await t.put({ key: 'later', expiresAt: t.now() + HOUR_MS })
    equal(await removeAll(t, 4), 11)
    equal(await t.keys(), ['later'])
  },
  'records that expired before those of the last removal are removed too': async (t) => {
    await fill(t, 8)
    equal(await t.removeExpired({ limit: 4 }), 4)
    const older = numbers(3).map((at) => ({ key: `older${at}`, expiresAt: t.now() - (100 + at) * HOUR_MS }))
    await t.put(...older)
    equal(await removeAll(t, 4), 7)
    equal(await t.keys(), [])
  },
  'records that expired at the same time are all removed': async (t) => {
    const expiresAt = t.now() - HOUR_MS
    await t.put(...numbers(11).map((at) => ({ key: `k${at}`, expiresAt })))
    equal(await removeAll(t, 3), 11)
    equal(await t.keys(), [])
  },
  'records of one tenant or of all are removed': async (t) => {
    const expiresAt = t.now() - HOUR_MS
    await t.put(...['a', 'A', '', 'b'].map((tenant) => ({ key: 'k', tenant, expiresAt })))
    equal(await t.removeExpired({ tenant: 'a' }), 1)
    equal([await t.keys({ tenant: 'a' }), await t.keys({ tenant: 'A' })], [[], ['k']])
    equal(await t.removeExpired({ tenant: '' }), 1)
    equal([await t.keys({ tenant: '' }), await t.keys({ tenant: 'A' })], [[], ['k']])
    equal(await t.removeExpired(), 2)
    for (const tenant of ['A', 'b']) equal(await t.keys({ tenant }), [])
  },
  'records of a tenant are removed from among many of others': async (t) => {
    const expiresAt = t.now() - HOUR_MS
    await t.put(...numbers(400).map((at) => ({ key: `k${at}`, tenant: 'other', expiresAt: expiresAt - at })))
    await t.put(...numbers(3).map((at) => ({ key: `k${at}`, expiresAt })))
    equal(await t.removeExpired({ tenant: 't', limit: 2 }), 2)
    equal(await t.removeExpired({ tenant: 't', limit: 2 }), 1)
    equal((await t.keys({ tenant: 'other', limit: 500 })).length, 400)
  },
  'records of another kind are not removed': async (t) => {
    const expiresAt = t.now() - HOUR_MS
    const kinds = [KIND, 'contract.others', 'contract.note', 'contract.Notes']
    await t.put(...kinds.map((kind) => ({ key: 'a', kind, expiresAt })))
    equal(await t.removeExpired(), 1)
    for (const kind of kinds.slice(1)) equal(await t.keys({ kind }), ['a'])
  },
  'a removed record can be stored again': async (t) => {
    await t.put({ key: 'a', expiresAt: t.now() - HOUR_MS })
    equal(await t.removeExpired(), 1)
    await t.put({ key: 'a', expiresAt: t.now() + HOUR_MS })
    equal(await t.removeExpired(), 0)
    equal(await t.keys(), ['a'])
  },
  'concurrent removals remove and count each record once': async (t) => {
    await fill(t, 12)
    const removal = { kind: KIND, expiredForMs: 0, limit: 12 }
    const handles = [t.store, t.other, t.store, t.other]
    const counts = await Promise.all(handles.map((store) => store.removeRecords(removal)))
    equal(
      counts.reduce((sum, one) => sum + one, 0),
      12,
    )
    equal(await t.keys(), [])
  },
})

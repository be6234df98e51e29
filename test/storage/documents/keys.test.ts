import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/storage/documents/index.ts'
import { documentKey, prefixOf, withShortKeys } from '../../../src/storage/documents/keys.ts'
import { timePart } from '../../../src/storage/rules/time-part.ts'
import { fc } from '../../support/properties.ts'
import { acceptance, delivery, digested } from '../storing.ts'
import { mapDocuments } from './map-documents.ts'

/** The database key for a key of the store. */
async function shortened(key: string): Promise<string> {
  const texts = new Map<string, string>()
  await withShortKeys(mapDocuments(Date, texts)).commit([{ key, before: undefined, after: '1' }])
  return [...texts.keys()][0] ?? ''
}

const names = fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { minLength: 1, maxLength: 4 })

describe('document keys', () => {
  it('Different names have different keys of lower-case letters, digits and four marks', () =>
    fc.assert(
      fc.asyncProperty(names, names, async (one, other) => {
        const [first, second] = [await shortened(documentKey(...one)), await shortened(documentKey(...other))]
        expect(first).toMatch(/^[-._a-z0-9/]*$/)
        expect(first === second).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
    ))

  it.each([
    [['a/b'], ['a', 'b']],
    [['A'], ['a']],
    [['_a'], ['A']],
    [['.0041'], ['A']],
    [
      ['', 'a'],
      ['a', ''],
    ],
    [['\ud800'], ['\udfff']],
    [['é'], ['e\u0301']],
  ])('The key of %j differs from that of %j', (one, other) =>
    expect(documentKey(...one)).not.toBe(documentKey(...other)),
  )

  it('The key of a long name differs for every character, and from a name that equals its hash', async () => {
    const long = documentKey('x'.repeat(2_000))
    const short = await shortened(long)
    expect(short).toHaveLength(96)
    expect(await shortened(documentKey(`${'x'.repeat(1_999)}y`))).not.toBe(short)
    expect(await shortened(documentKey(short))).not.toBe(short)
    expect(await shortened(short)).toBe(short)
    expect(await shortened(documentKey('x'.repeat(97)))).toHaveLength(96)
  })

  it('A shortened key keeps the prefix of its names', async () => {
    const tenant = 'T'.repeat(2_000)
    const documents = withShortKeys(mapDocuments(Date))
    await documents.commit([{ key: documentKey('runs', tenant, 'r'), before: undefined, after: '1' }])
    expect(await documents.list(prefixOf('runs', tenant), { limit: 9 })).toHaveLength(1)
    expect(await documents.list(prefixOf('runs', 'T'), { limit: 9 })).toEqual([])
  })

  it('Keys sort by time', () => {
    const times = [-1, 0, 5, 1_700_000_000_000, 9e15, Number.POSITIVE_INFINITY]
    expect(times.map(timePart)).toEqual(times.map(timePart).sort())
    expect(new Set(times.map((time) => timePart(time).length))).toEqual(new Set([16]))
  })

  it('A key has at most 400 characters', async () => {
    const texts = new Map<string, string>()
    const store = documentStore(mapDocuments(Date, texts))
    const name = (of: string): string => `${of}${'Ω'.repeat(1_999)}`
    const limits = [{ key: name('l'), max: 2, windowMs: 1_000 }]
    const idempotency = { key: name('i'), fingerprint: 'f', ttlMs: 1 }
    const accept = (id: string, tenant: string) => {
      const deliveries = [
        delivery(name(`${id}d`), { channel: name('c'), limits }),
        digested(name(`${id}e`), { key: name('k') }, { channel: name('b'), address: name('a') }),
      ]
      return store.accept(acceptance(name(id), { tenant: name(tenant), deliveries }, { idempotency }))
    }
    await accept('1', 't')
    await accept('2', 'T')
    await store.cancel(name('t'), name('1'))
    await store.mergeRun({ tenant: name('t'), sessionId: name('s'), runId: name('r') }, () => ({
      result: undefined,
      state: { sessionId: name('s'), runId: name('r'), latest: {}, tags: [] } as never,
      derived: { ended: [], pending: ['run.started'] } as never,
    }))
    expect(texts.size).toBeGreaterThan(12)
    expect([...texts.keys()].filter((key) => key.length > 400)).toEqual([])
  })
})

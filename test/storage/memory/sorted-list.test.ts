import { describe, expect, it } from 'vitest'
import { SortedList } from '../../../src/storage/memory/sorted-list.ts'
import { fc, runs } from '../../support/properties.ts'

interface Entry {
  readonly key: number
}

function listOf(keys: Iterable<number>): { list: SortedList<Entry>; entries: Map<number, Entry> } {
  const list = new SortedList<Entry>((one, other) => one.key < other.key)
  const entries = new Map<number, Entry>()
  for (const key of keys) {
    const entry = { key }
    entries.set(key, entry)
    list.add(entry)
  }
  return { list, entries }
}

function keysOf(entries: Iterable<Entry>): number[] {
  return [...entries].map(({ key }) => key)
}

/** Enough entries for several blocks, in an order that fills them from all sides. */
const SHUFFLED: readonly number[] = Array.from({ length: 5_003 }, (_, at) => (at * 1_009) % 5_003)
const SORTED: readonly number[] = SHUFFLED.toSorted((a, b) => a - b)

describe('SortedList', () => {
  it('An empty sorted list has no entries from any position', () => {
    const { list } = listOf([])
    list.delete({ key: 1 })
    expect([list.first, [...list.up()], [...list.down()], [...list.up(() => true)]]).toEqual([undefined, [], [], []])
  })

  it.each([
    ['in order', SORTED],
    ['backwards', SORTED.toReversed()],
    ['shuffled', SHUFFLED],
  ])('A sorted list gives entries added %s in order, up and down, from every point', (_, keys) => {
    const { list } = listOf(keys)
    expect(list.first?.key).toBe(0)
    expect(keysOf(list.up())).toEqual(SORTED)
    expect(keysOf(list.down())).toEqual(SORTED.toReversed())
    for (const point of [0, 1, 255, 256, 257, 511, 512, 513, 1_024, 4_999, 5_002, 5_003]) {
      const isBelow = ({ key }: Entry): boolean => key < point
      expect(keysOf(list.up(isBelow))).toEqual(SORTED.slice(point))
      expect(keysOf(list.down(isBelow))).toEqual(SORTED.slice(0, point).toReversed())
    }
  })

  it('Entries of a sorted list can be removed in any order and added again', () => {
    const { list, entries } = listOf(SHUFFLED)
    for (const key of SHUFFLED.toReversed()) list.delete(entries.get(key) as Entry)
    expect([list.first, [...list.up()], [...list.down()]]).toEqual([undefined, [], []])
    for (const entry of entries.values()) list.add(entry)
    expect(keysOf(list.up())).toEqual(SORTED)
  })

  it('Removing an unknown entry does not change a sorted list', () => {
    const { list } = listOf([1, 2, 3])
    for (const key of [0, 2, 4]) list.delete({ key })
    expect(keysOf(list.up())).toEqual([1, 2, 3])
  })

  it('The number of comparisons of a sorted list grows logarithmically', () => {
    let compared = 0
    const list = new SortedList<Entry>((one, other) => {
      compared += 1
      return one.key < other.key
    })
    const entries = Array.from({ length: 64_000 }, (_, key) => ({ key }))
    const during = (work: () => void): number => {
      compared = 0
      work()
      return compared
    }
    expect(
      during(() => {
        for (const entry of entries) list.add(entry)
      }),
    ).toBeLessThanOrEqual(64_000)
    for (const key of [0, 31_000, 63_999]) {
      const entry = entries[key] as Entry
      expect(during(() => list.delete(entry))).toBeLessThan(20)
      expect(during(() => list.add(entry))).toBeLessThan(20)
    }
  })

  it('A sorted list equals a sorted array after any sequence of changes', () => {
    const step = fc.record({ key: fc.nat(40), point: fc.nat(41) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const { list, entries } = listOf([])
        for (const { key, point } of steps) {
          const entry = entries.get(key)
          if (entry) {
            list.delete(entry)
            entries.delete(key)
          } else {
            const added = { key }
            list.add(added)
            entries.set(key, added)
          }
          const sorted = [...entries.keys()].sort((a, b) => a - b)
          const given = [keysOf(list.up((one) => one.key < point)), keysOf(list.down((one) => one.key < point))]
          const ought = [sorted.filter((one) => one >= point), sorted.filter((one) => one < point).toReversed()]
          expect([...given, list.first?.key]).toEqual([...ought, sorted[0]])
        }
      }),
      { numRuns: runs(100) },
    )
  })
})

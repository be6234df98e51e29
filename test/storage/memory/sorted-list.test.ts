import { describe, expect, it } from 'vitest'
import { type Placed, SortedList } from '../../../src/storage/memory/sorted-list.ts'
import { fc, runs } from '../../support/properties.ts'

function placed(key: number): Placed {
  return { place: ['a', key] }
}

function listOf(keys: Iterable<number>): SortedList<Placed> {
  const list = new SortedList<Placed>()
  for (const key of keys) list.add(placed(key))
  return list
}

function isBefore(key: number): (one: Placed) => boolean {
  return (one) => keyOf(one) < key
}

function keyOf({ place }: Placed): number {
  return Number(place[1])
}

function up(list: SortedList<Placed>, point = 0): number[] {
  return [...list.up(isBefore(point))].map(keyOf)
}

function down(list: SortedList<Placed>, point = Number.POSITIVE_INFINITY): number[] {
  return [...list.down(isBefore(point))].map(keyOf)
}

/** Enough entries for several blocks, in an order that fills them from all sides. */
const SHUFFLED: readonly number[] = Array.from({ length: 5_003 }, (_, at) => (at * 1_009) % 5_003)
const SORTED: readonly number[] = SHUFFLED.toSorted((a, b) => a - b)

describe('SortedList', () => {
  it('An empty sorted list has no entries from any position', () => {
    const list = listOf([])
    list.delete(placed(1).place)
    expect([up(list), down(list), up(list, 1)]).toEqual([[], [], []])
  })

  it.each([
    ['in order', SORTED],
    ['backwards', SORTED.toReversed()],
    ['shuffled', SHUFFLED],
  ])('A sorted list gives entries added %s in order, up and down, from every point', (_, keys) => {
    const list = listOf(keys)
    expect(up(list)).toEqual(SORTED)
    expect(down(list)).toEqual(SORTED.toReversed())
    for (const point of [0, 1, 255, 256, 257, 511, 512, 513, 1_024, 4_999, 5_002, 5_003]) {
      expect(up(list, point)).toEqual(SORTED.slice(point))
      expect(down(list, point)).toEqual(SORTED.slice(0, point).toReversed())
    }
  })

  it('Entries of a sorted list can be removed in any order and added again', () => {
    const list = listOf(SHUFFLED)
    for (const key of SHUFFLED.toReversed()) list.delete(placed(key).place)
    expect([up(list), down(list)]).toEqual([[], []])
    for (const key of SHUFFLED) list.add(placed(key))
    expect(up(list)).toEqual(SORTED)
  })

  it('Removing an unknown entry does not change a sorted list', () => {
    const list = listOf([1, 2, 4])
    for (const key of [0, 3, 5]) list.delete(placed(key).place)
    expect(up(list)).toEqual([1, 2, 4])
  })

  it('The number of comparisons of a sorted list grows logarithmically', () => {
    let read = 0
    const counted = (key: number): Placed => ({
      get place() {
        read += 1
        return placed(key).place
      },
    })
    const list = new SortedList<Placed>()
    const readDuring = (work: () => void): number => {
      read = 0
      work()
      return read
    }
    const addAll = (): void => {
      for (let key = 0; key < 64_000; key++) list.add(counted(key))
    }
    // A comparison reads at most two places.
    expect(readDuring(addAll)).toBeLessThanOrEqual(2 * 64_000)
    for (const key of [0, 31_000, 63_999]) {
      expect(readDuring(() => list.delete(placed(key).place))).toBeLessThan(20)
      expect(readDuring(() => list.add(counted(key)))).toBeLessThan(2 * 20)
    }
  })

  it('A sorted list equals a sorted array after any sequence of changes', () => {
    const step = fc.record({ key: fc.nat(40), point: fc.nat(41) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const list = listOf([])
        const keys = new Set<number>()
        for (const { key, point } of steps) {
          if (keys.delete(key)) list.delete(placed(key).place)
          else {
            list.add(placed(key))
            keys.add(key)
          }
          const sorted = [...keys].sort((a, b) => a - b)
          const ought = [sorted.filter((one) => one >= point), sorted.filter((one) => one < point).toReversed()]
          expect([up(list, point), down(list, point)]).toEqual(ought)
        }
      }),
      { numRuns: runs(100) },
    )
  })
})

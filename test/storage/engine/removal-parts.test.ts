import { describe, expect, it } from 'vitest'
import { removalParts } from '../../../src/storage/engine/removal-parts.ts'

/** Removes from sorted instants, and records where each batch began. */
function removing(left: number[]) {
  const removeSome = removalParts()
  const begun: number[] = []
  return {
    begun,
    remove: (limit: number, key = 'k') =>
      removeSome(key, limit, async (from, most) => {
        begun.push(from)
        if (most === 0) throw new Error('it failed')
        const found = left.filter((at) => at >= from).slice(0, most)
        for (const at of found) left.splice(left.indexOf(at), 1)
        return { count: found.length, until: found.at(-1) ?? 0 }
      }),
  }
}

describe('removal in batches', () => {
  it('A removal continues where the previous batch ended', async () => {
    const { remove, begun } = removing([1, 2, 3, 4, 5])
    expect([await remove(2), await remove(2)]).toEqual([2, 2])
    expect(begun).toEqual([0, 2])
  })

  it('The last batch starts from the beginning, for rows that were skipped', async () => {
    const left = [1, 2, 3, 4, 5]
    const { remove, begun } = removing(left)
    await remove(3)
    left.unshift(1, 2)
    expect(await remove(5)).toBe(4)
    expect(begun).toEqual([0, 3, 0])
    expect(await remove(5)).toBe(0)
    expect(begun.at(-1)).toBe(0)
  })

  it('Skipped rows count towards a full batch', async () => {
    const left = [1, 2, 3, 4]
    const { remove, begun } = removing(left)
    await remove(3)
    left.unshift(1, 2)
    expect(await remove(2)).toBe(2)
    expect([await remove(2), left]).toEqual([1, []])
    expect(begun).toEqual([0, 3, 0, 1, 0])
  })

  it('A removal starts from the beginning after a failure, and for another key', async () => {
    const { remove, begun } = removing([1, 2, 3, 4, 5])
    await remove(2)
    await expect(remove(0)).rejects.toThrow('it failed')
    await remove(1)
    await remove(1, 'other')
    expect(begun).toEqual([0, 2, 0, 0])
  })
})

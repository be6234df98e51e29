import { describe, expect, it } from 'vitest'
import { boundedMap } from '../../../src/storage/engine/bounded-map.ts'

describe('bounded map', () => {
  it('A bounded map drops its oldest entry', () => {
    const map = boundedMap<number>(2)
    map.put('a', 1)
    map.put('b', 2)
    map.put('a', 3)
    map.put('c', 4)
    expect(['a', 'b', 'c'].map(map.get)).toEqual([3, undefined, 4])
    map.delete('c')
    map.put('d', 5)
    expect(['a', 'c', 'd'].map(map.get)).toEqual([3, undefined, 5])
  })
})

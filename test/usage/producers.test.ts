import { describe, expect, it } from 'vitest'
import { readUsage } from '../../src/usage/read-usage.ts'
import { PRODUCERS } from './producers.ts'

describe('usage objects of producers', () => {
  const rows = PRODUCERS.map((row) => [row.producer, row] as const)

  it.each(rows)('Usage of %s is read to inclusive counts', (_, { usage, counts, doubts = [] }) => {
    const read = readUsage(usage, [])
    expect({
      counts: read?.counts,
      doubts: read?.doubts.map(({ code, pointer }) => `${code} ${pointer.slice(1)}`).sort(),
    }).toEqual({ counts, doubts: doubts.toSorted() })
  })

  it('Every producer is named once, with its source', () => {
    const names = PRODUCERS.map(({ producer }) => producer)
    expect(new Set(names).size).toBe(names.length)
    expect(PRODUCERS.filter(({ source }) => !source.startsWith('https://'))).toEqual([])
  })
})

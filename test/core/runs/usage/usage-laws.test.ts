import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReadFault } from '../../../../src/core/json/schema-readers.ts'
import { readUsage, type UsageCounts } from '../../../../src/core/runs/usage/usage.ts'
import type { RunCounts } from '../../../../src/model/run.ts'
import { FIXTURES } from './usage-fixtures.ts'
import { countsOf, SPEAKERS, truth } from './usage-fixtures-spoken.ts'

const SOME: { numRuns: number } = { numRuns: 60 }

/** Reads what must be without fault. */
function read(usage: object): UsageCounts | undefined {
  const faults: ReadFault[] = []
  const counts = readUsage(usage, faults)
  expect(faults).toEqual([])
  return counts
}

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same with its members, and those of its members, in an order that `seed` gives. */
function shuffled(value: unknown, seed: number): unknown {
  if (!isObject(value)) return value
  const keys = Object.keys(value)
  const from = keys.length === 0 ? 0 : seed % keys.length
  const turned = [...keys.slice(from), ...keys.slice(0, from)]
  if (seed % 2 === 0) turned.reverse()
  return Object.fromEntries(turned.map((key) => [key, shuffled(value[key], seed)]))
}

/** The same with the leaves that `bits` names made `null`, or left out. */
function without(value: unknown, bits: number, how: 'null' | 'absent', at: { leaf: number } = { leaf: 0 }): unknown {
  if (!isObject(value)) return value
  const kept: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    if (isObject(member)) kept[key] = without(member, bits, how, at)
    else if (((bits >> at.leaf++) & 1) === 0) kept[key] = member
    else if (how === 'null') kept[key] = null
  }
  return kept
}

describe.each(SPEAKERS)('usage as %s tells it', (_, tell, knows) => {
  it('comes to the counts of what happened', () => {
    fc.assert(
      fc.property(truth, (happened) => {
        const counts: RunCounts = countsOf(happened)
        expect(read(tell(happened))).toEqual(Object.fromEntries(knows.map((count) => [count, counts[count]])))
      }),
    )
  })

  it('includes the cache in the input and reasoning in the output', () => {
    fc.assert(
      fc.property(truth, (happened) => {
        const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, ...rest } = read(tell(happened)) ?? {}
        expect(cacheReadTokens + cacheWriteTokens).toBeLessThanOrEqual(inputTokens)
        expect(rest.reasoningTokens ?? 0).toBeLessThanOrEqual(rest.outputTokens ?? 0)
      }),
      SOME,
    )
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(truth, fc.nat(1000), (happened, seed) => {
        const usage = tell(happened)
        expect(read(shuffled(usage, seed) as object)).toEqual(read(usage))
      }),
      SOME,
    )
  })

  it('with nulls is the same as without those members, and tells no count that was not told', () => {
    fc.assert(
      fc.property(truth, fc.nat(2 ** 10 - 1), (happened, bits) => {
        const usage = tell(happened)
        const nulls = read(without(usage, bits, 'null') as object)
        expect(nulls).toEqual(read(without(usage, bits, 'absent') as object))
        for (const count of Object.keys(nulls ?? {})) expect(knows).toContain(count)
      }),
      SOME,
    )
  })

  it('is the same read again from its counts', () => {
    fc.assert(
      fc.property(truth, (happened) => {
        const counts = read(tell(happened))
        expect(read(counts ?? {})).toEqual(counts)
      }),
      SOME,
    )
  })

  it('is known by any one of its members', () => {
    const usage: Json = { ...tell({ plain: 1, cacheRead: 2, cacheWrite: 3, tools: 4, text: 5, reasoning: 6 }) }
    const reported = Object.keys(usage).filter((key) => usage[key] !== null)
    expect(reported.filter((key) => read({ [key]: usage[key] }) === undefined)).toEqual([])
  })

  it('is left as it was', () => {
    fc.assert(
      fc.property(truth, (happened) => {
        const usage = tell(happened)
        const before = structuredClone(usage)
        read(usage)
        expect(usage).toEqual(before)
      }),
      { numRuns: 10 },
    )
  })
})

describe('any object', () => {
  const key = fc.constantFrom(
    ...FIXTURES.flatMap(([, usage]) => Object.keys(usage)),
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', ''],
  )
  const number = fc.oneof(
    fc.constantFrom(0, -0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53 - 1, 2 ** 53, 1e300),
    fc.nat(),
  )
  const junk = fc.oneof(number, fc.jsonValue({ maxDepth: 1 }), fc.dictionary(key, number, { maxKeys: 4 }))

  it('is read to integers from 0 to 2^53 - 1, or refused, or nobody’s', () => {
    fc.assert(
      fc.property(fc.dictionary(key, junk, { maxKeys: 6 }), (usage) => {
        const counts = readUsage(usage, [])
        for (const count of Object.values(counts ?? {})) {
          expect(Number.isSafeInteger(count)).toBe(true)
          expect(Object.is(Math.abs(count), count)).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })
})

import { describe, expect, it } from 'vitest'
import type { ReadFault } from '../../src/model/read-fault.ts'
import type { RunCounts } from '../../src/model/run.ts'
import { type ReadUsage, readUsage } from '../../src/usage/read-usage.ts'
import { fc, runs } from '../support/properties.ts'
import { FIXTURES } from './usage-fixtures.ts'
import { calls, countsOf, PROVIDERS } from './usage-fixtures-spoken.ts'

const SOME: { numRuns: number } = { numRuns: runs(60) }

/** Reads a usage object without faults. */
function read(usage: object): ReadUsage['counts'] | undefined {
  const faults: ReadFault[] = []
  const counts = readUsage(usage, faults)?.counts
  expect(faults).toEqual([])
  return counts
}

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same object with all members, at every level, in an order that `seed` gives. */
function shuffled(value: unknown, seed: number): unknown {
  if (!isObject(value)) return value
  const keys = Object.keys(value)
  const from = keys.length === 0 ? 0 : seed % keys.length
  const turned = [...keys.slice(from), ...keys.slice(0, from)]
  if (seed % 2 === 0) turned.reverse()
  return Object.fromEntries(turned.map((key) => [key, shuffled(value[key], seed)]))
}

/** The same object with the leaves in `bits` set to `null`, or left out. */
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

describe.each(PROVIDERS)('usage of %s', (provider, usageOf, reports) => {
  it(`Usage of ${provider} is read to the counts of the call`, () => {
    fc.assert(
      fc.property(calls, (call) => {
        const counts: RunCounts = countsOf(call)
        expect(read(usageOf(call))).toEqual(Object.fromEntries(reports.map((count) => [count, counts[count]])))
      }),
    )
  })

  it(`Input of ${provider} includes the cache, and output includes reasoning`, () => {
    fc.assert(
      fc.property(calls, (call) => {
        const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, ...rest } = read(usageOf(call)) ?? {}
        expect(cacheReadTokens + cacheWriteTokens).toBeLessThanOrEqual(inputTokens)
        expect(rest.reasoningTokens ?? 0).toBeLessThanOrEqual(rest.outputTokens ?? 0)
      }),
      SOME,
    )
  })

  it(`The order of keys in usage of ${provider} does not matter`, () => {
    fc.assert(
      fc.property(calls, fc.nat(1000), (call, seed) => {
        const usage = usageOf(call)
        expect(read(shuffled(usage, seed) as object)).toEqual(read(usage))
      }),
      SOME,
    )
  })

  it(`Null members of ${provider} usage count as absent and add no count`, () => {
    fc.assert(
      fc.property(calls, fc.nat(2 ** 10 - 1), (call, bits) => {
        const usage = usageOf(call)
        const nulls = read(without(usage, bits, 'null') as object)
        expect(nulls).toEqual(read(without(usage, bits, 'absent') as object))
        for (const count of Object.keys(nulls ?? {})) expect(reports).toContain(count)
      }),
      SOME,
    )
  })

  it(`Counts of ${provider} stay the same when they are read again as usage`, () => {
    fc.assert(
      fc.property(calls, (call) => {
        const counts = read(usageOf(call))
        expect(read(counts ?? {})).toEqual(counts)
      }),
      SOME,
    )
  })

  it(`Any one member identifies usage of ${provider}`, () => {
    const usage: Json = { ...usageOf({ plain: 1, cacheRead: 2, cacheWrite: 3, tools: 4, text: 5, reasoning: 6 }) }
    // Tokens of tool use are added to the input; alone, they are no count.
    const reported = Object.keys(usage).filter((key) => usage[key] !== null && !/tool_?use/i.test(key))
    expect(reported.filter((key) => read({ [key]: usage[key] }) === undefined)).toEqual([])
  })

  it(`Reading does not change usage of ${provider}`, () => {
    fc.assert(
      fc.property(calls, (call) => {
        const usage = usageOf(call)
        const before = structuredClone(usage)
        read(usage)
        expect(usage).toEqual(before)
      }),
      { numRuns: runs(10) },
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

  it('Any object read as usage gives integers from 0 to 2^53 - 1, a fault, or no known shape', () => {
    fc.assert(
      fc.property(fc.dictionary(key, junk, { maxKeys: 6 }), (usage) => {
        const counts = readUsage(usage, [])?.counts
        for (const count of Object.values(counts ?? {})) {
          expect(Number.isSafeInteger(count)).toBe(true)
          expect(Object.is(Math.abs(count), count)).toBe(true)
        }
      }),
      { numRuns: runs(500) },
    )
  })
})

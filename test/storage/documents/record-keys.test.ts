import { describe, expect, it } from 'vitest'
import {
  indexOrders,
  keyPart,
  orderKey,
  orderOf,
  rangeOf,
  recordKey,
} from '../../../src/storage/documents/record-keys.ts'
import { columnOf, isNumber } from '../../../src/storage/engine/columns.ts'
import { KINDS } from '../../../src/storage/engine/declarations.ts'
import { declarationOf, type Kind } from '../../../src/storage/engine/kinds.ts'
import { fc } from '../../support/properties.ts'

const kinds = Object.keys(KINDS) as Kind[]
const text = fc.string({ unit: 'binary', maxLength: 200 })

/** A record with the longest values. */
function longest(kind: Kind): Record<string, unknown> {
  const columns = Object.entries(declarationOf(kind).columns)
  return Object.fromEntries(
    columns.map(([name, words]) => [name, isNumber(columnOf(words)) ? Number.MAX_SAFE_INTEGER : 'Ω'.repeat(2_000)]),
  )
}

function run(tenant: string, sessionId: string, runId: string): Record<string, unknown> {
  return { tenant, session_id: sessionId, run_id: runId, created_at: 1, tie_breaker: 2 }
}

describe('keys of records', () => {
  const orders = kinds.flatMap((kind) => [orderOf(kind), ...indexOrders(kind)])

  it.each(orders.map((order) => [order.name, order] as const))(
    'A key of %s has fewer than 400 characters',
    async (_, order) => {
      const key = await orderKey(order, longest(order.kind))
      expect(key).toMatch(/^[-._a-z0-9/]*$/)
      expect(key.length).toBeLessThan(400)
    },
  )

  it('Different texts have different parts of lower-case letters, digits and three marks', () =>
    fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        const [first, second] = await Promise.all([keyPart(one), keyPart(other)])
        expect(first).toMatch(/^[-._a-z0-9]+$/)
        expect(first === second).toBe(one === other)
      }),
    ))

  it.each([
    ['A', 'a'],
    ['_a', 'A'],
    ['.0041', 'A'],
    ['', '_'],
    ['\ud800', '\udfff'],
    ['é', 'e\u0301'],
  ])('The part of %j differs from that of %j', async (one, other) =>
    expect(await keyPart(one)).not.toBe(await keyPart(other)),
  )

  it('Records with different keys have different keys in each index', () =>
    fc.assert(
      fc.asyncProperty(fc.tuple(text, text, text), fc.tuple(text, text, text), async (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        for (const order of [orderOf('runs'), orderOf('runs', 'by_time'), orderOf('runs', 'open')]) {
          const [first, second] = [run(...one), run(...other)].map((row) => orderKey(order, { ...row, open_since: 1 }))
          expect((await first) === (await second)).toBe(isSame)
        }
      }),
    ))

  it('The others of a key never read as one text', async () => {
    const order = orderOf('runs', 'open')
    const row = { open_since: 1, ...run('t', 's', 'r') }
    const joined = { ...row, run_id: 'r.-s', session_id: 't', tenant: '' }
    expect(await orderKey(order, row)).toBe('runs.open/0000000000000001/0000000000000002/r.-s.-t')
    expect(await orderKey(order, joined)).toBe('runs.open/0000000000000001/0000000000000002/r.002e-s.-t.-_')
  })

  it('The part of a long text differs for every character, and from a text that equals it', async () => {
    const long = await keyPart('x'.repeat(2_000))
    expect(long).toHaveLength(88)
    for (const changed of [`y${'x'.repeat(1_999)}`, `${'x'.repeat(1_000)}y${'x'.repeat(999)}`, `${'x'.repeat(1_999)}y`])
      expect(await keyPart(changed)).not.toBe(long)
    expect(await keyPart(long)).not.toBe(long)
    expect(await keyPart('x'.repeat(95))).toHaveLength(88)
    expect(await keyPart('x'.repeat(94))).toBe('x'.repeat(94))
  })

  it('Texts that begin with the same characters and end with 16 digits sort by these', () =>
    fc.assert(
      fc.asyncProperty(text, fc.array(fc.maxSafeNat(), { maxLength: 9 }), async (start, numbers) => {
        const texts = numbers.map((number) => start + String(number).padStart(16, '0'))
        const sorted = await Promise.all(texts.sort().map((of) => keyPart(of)))
        expect(sorted).toEqual(sorted.toSorted())
      }),
    ))

  it('Numbers sort by size', async () => {
    const parts = await Promise.all([0, 5, 1_700_000_000_000, Number.MAX_SAFE_INTEGER].map(keyPart))
    expect(parts).toEqual(parts.toSorted())
  })

  it('Keys begin with the range of their leading values, and with no other range', async () => {
    const key = await recordKey('run_sums', run('T'.repeat(300), 's', 'r'))
    const ranges = [['T'.repeat(300)], ['T'.repeat(300), 's'], ['T'.repeat(299)], ['T'.repeat(300), '']]
    const prefixes = await Promise.all(ranges.map((values) => rangeOf(orderOf('run_sums'), values)))
    expect(prefixes.map(({ prefix }) => key.startsWith(prefix))).toEqual([true, true, false, false])
    expect(await rangeOf(orderOf('run_sums'), ['a', 'b', 'c'])).toEqual({ prefix: 'run_sums/a/b/c', isOneKey: true })
    expect(await rangeOf(orderOf('digests', 'open'), ['k'])).toEqual({ prefix: 'digests.open/k/', isOneKey: false })
  })

  it('An unknown index is an error', () =>
    expect(() => orderOf('runs', 'by_name')).toThrow('runs has no index by_name'))
})

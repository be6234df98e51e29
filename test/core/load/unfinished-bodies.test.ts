import { describe, expect, it } from 'vitest'
import {
  type UnfinishedBody,
  type UnfinishedBudget,
  unfinishedBodies,
} from '../../../src/core/load/unfinished-bodies.ts'
import { fc, runs } from '../../support/properties.ts'

/** A budget that records the names of the bodies that it refuses. */
function budget(count: number, bytes = 1_000_000) {
  const refused: string[] = []
  const shed: UnfinishedBudget[] = []
  const bodies = unfinishedBodies({ count, bytes }, (held) => shed.push(held))
  const begin = (tenant: string, id: string, name = id): UnfinishedBody | undefined =>
    bodies.begin({ tenant, id }, () => refused.push(name))
  const fill = (tenant: string, id: string, many: number): (UnfinishedBody | undefined)[] =>
    Array.from({ length: many }, (_, at) => begin(tenant, id, `${id}${at}`))
  return { bodies, begin, fill, refused, shed }
}

describe('unfinishedBodies', () => {
  it('unfinishedBodies lets one principal use the whole budget and refuses its next body', () => {
    const { begin, fill, refused } = budget(5)
    expect(fill('t', 'a', 5).every(Boolean)).toBe(true)
    expect(begin('t', 'a')).toBeUndefined()
    expect(refused).toEqual([])
  })

  it('unfinishedBodies refuses the oldest body of strangers for the newest, and none of a smaller principal', () => {
    const { bodies, fill, refused } = budget(5)
    const open = { tenant: '', id: 'open', isAnybody: true }
    fill('t', 'a', 2)
    for (let at = 0; at < 5; at++) expect(bodies.begin(open, () => refused.push(`open${at}`))).toBeDefined()
    expect(refused).toEqual(['open0', 'open1'])
    // A tenant that holds more than strangers gives way first.
    const large = budget(5)
    large.fill('t', 'a', 4)
    for (let at = 0; at < 4; at++) large.bodies.begin(open, () => large.refused.push(`open${at}`))
    expect(large.refused).toEqual(['a0', 'a1', 'open0'])
  })

  it('unfinishedBodies refuses the oldest bodies of the largest tenant to admit another tenant', () => {
    const { begin, fill, refused } = budget(5)
    fill('t', 'a', 4)
    begin('t', 'b', 'b0')
    expect(fill('u', 'c', 2).every(Boolean)).toBe(true)
    expect(refused).toEqual(['a0', 'a1'])
  })

  it('unfinishedBodies refuses the oldest body of the largest principal to admit another principal of the same tenant', () => {
    const { begin, fill, refused } = budget(4)
    fill('t', 'a', 4)
    expect(begin('t', 'b')).toBeDefined()
    expect(refused).toEqual(['a0'])
  })

  it('unfinishedBodies shares by tenant first: a tenant gains nothing from many principals', () => {
    const { begin, refused } = budget(6)
    for (let at = 0; at < 6; at++) begin('many', `m${at}`)
    for (let at = 0; at < 3; at++) expect(begin('one', 'o')).toBeDefined()
    expect(begin('one', 'o')).toBeUndefined()
    expect(refused).toEqual(['m0', 'm1', 'm2'])
    expect(begin('many', 'new')).toBeDefined()
    expect(refused).toEqual(['m0', 'm1', 'm2', 'm3'])
  })

  it('unfinishedBodies frees a released share once', () => {
    const { begin, fill } = budget(2)
    const [first] = fill('t', 'a', 2)
    first?.release()
    first?.release()
    expect(begin('t', 'a')).toBeDefined()
    expect(begin('t', 'a')).toBeUndefined()
  })

  it('unfinishedBodies refuses the oldest bodies of the principal that holds most bytes', () => {
    const { begin, refused } = budget(10, 1_000)
    const small = begin('t', 'small')
    const [first, second] = [begin('u', 'big', 'big0'), begin('u', 'big', 'big1')]
    small?.hold(300)
    first?.hold(300)
    second?.hold(400)
    expect(refused).toEqual([])
    small?.hold(310)
    expect(refused).toEqual(['big0'])
    second?.hold(700)
    expect(refused).toEqual(['big0', 'big1'])
    second?.hold(900)
    small?.hold(1_000)
    expect(refused).toEqual(['big0', 'big1'])
  })

  it('unfinishedBodies reports once that it is full, and again after half of the budget was free', () => {
    const { fill, begin, shed } = budget(4)
    const held = fill('t', 'a', 4)
    for (let at = 0; at < 3; at++) begin('t', 'a')
    expect(shed).toEqual([{ count: 4, bytes: 0 }])
    for (const each of held) each?.release()
    fill('t', 'a', 5)
    expect(shed).toHaveLength(2)
  })

  it('unfinishedBodies reports that the bytes are used up, and again after half of both limits was free', () => {
    const { begin, shed } = budget(4, 100)
    const [first, second, third] = [begin('t', 'a'), begin('t', 'a'), begin('t', 'a')]
    first?.hold(40)
    second?.hold(60)
    third?.hold(11)
    expect(shed).toEqual([{ count: 3, bytes: 111 }])
    second?.hold(100)
    second?.release()
    third?.hold(101)
    expect(shed).toHaveLength(2)
  })

  it.each<[string, number, number, number]>([
    ['one body more than half', 3, 0, 1],
    ['exactly half of the bodies', 2, 0, 2],
    ['one byte more than half', 1, 51, 1],
    ['exactly half of the bytes', 1, 50, 2],
  ])('The next refusal after %s is left', (_, left, bytes, reports) => {
    const { fill, begin, shed } = budget(4, 100)
    const held = fill('t', 'a', 4)
    begin('t', 'a')
    held[3]?.hold(bytes)
    for (const each of held.slice(0, 4 - left)) each?.release()
    fill('t', 'a', 5 - left)
    expect(shed).toHaveLength(reports)
  })

  it('unfinishedBodies refuses by count the principal with most bodies, and by bytes the principal with most bytes', () => {
    const byCount = budget(4)
    byCount.begin('t', 'large')?.hold(900)
    byCount.fill('t', 'many', 3)
    expect(byCount.begin('t', 'new')).toBeDefined()
    expect(byCount.refused).toEqual(['many0'])

    const byBytes = budget(10, 1_000)
    byBytes.begin('t', 'large')?.hold(900)
    const [first] = byBytes.fill('t', 'many', 3)
    first?.hold(200)
    expect(byBytes.refused).toEqual(['large'])
  })

  it('unfinishedBodies refuses by count a body of the tenant with most bodies, not of the tenant with most bytes', () => {
    const { begin, fill, refused } = budget(4)
    begin('large', 'l')?.hold(900)
    fill('many', 'm', 3)
    expect(begin('new', 'n')).toBeDefined()
    expect(refused).toEqual(['m0'])
  })

  it('unfinishedBodies never exceeds the budget and returns to zero after any sequence of calls', () => {
    const move = fc.record({ tenant: fc.nat(2), id: fc.nat(2), at: fc.nat(40), bytes: fc.nat(400) })
    fc.assert(
      fc.property(fc.array(move, { maxLength: 120 }), (moves) => {
        const open = new Map<UnfinishedBody, number>()
        const bodies = unfinishedBodies({ count: 7, bytes: 1_000 }, () => {})
        for (const { tenant, id, at, bytes } of moves) {
          const some = [...open.keys()][at]
          if (some && bytes % 2) some.release()
          if (some && bytes % 2) open.delete(some)
          else if (some) {
            open.set(some, bytes)
            some.hold(bytes)
          } else {
            let own: UnfinishedBody | undefined
            own = bodies.begin({ tenant: `t${tenant}`, id: `p${id}` }, () => own && open.delete(own))
            if (own) open.set(own, 0)
          }
          expect(open.size).toBeLessThanOrEqual(7)
          expect([...open.values()].reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(1_000)
        }
        for (const each of open.keys()) each.release()
        const all = Array.from({ length: 7 }, () => bodies.begin({ tenant: 't', id: 'p' }, () => {}))
        expect(all.every(Boolean)).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })

  it('unfinishedBodies refuses a body only if its tenant, then its principal, holds most', () => {
    const arrival = fc.record({ tenant: fc.nat(3), id: fc.nat(2) })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(arrival, { maxLength: 80 }), (max, arrivals) => {
        const bodies = unfinishedBodies({ count: max, bytes: 1_000 }, () => {})
        let held: { readonly tenant: number; readonly id: number }[] = []
        const expectMost = (of: (typeof held)[number]): void => {
          const sizes = (some: typeof held, by: 'tenant' | 'id') =>
            [0, 1, 2, 3].map((at) => some.filter((each) => each[by] === at).length)
          const tenants = sizes(held, 'tenant')
          expect(tenants[of.tenant]).toBe(Math.max(...tenants))
          const principals = sizes(
            held.filter(({ tenant }) => tenant === of.tenant),
            'id',
          )
          expect(principals[of.id]).toBe(Math.max(...principals))
        }
        for (const arriving of arrivals) {
          const share = bodies.begin({ tenant: `t${arriving.tenant}`, id: `p${arriving.id}` }, () => {
            expectMost(arriving)
            held = held.filter((each) => each !== arriving)
          })
          if (share) held.push(arriving)
          else expectMost(arriving)
          expect(held.length).toBeLessThanOrEqual(max)
        }
      }),
      { numRuns: runs(300) },
    )
  })
})

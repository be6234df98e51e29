import { describe, expect, it } from 'vitest'
import { parseDomain, parseMailbox } from '../../src/model/recipient.ts'

/** A domain of so many characters, at least 193. */
function domainOf(length: number, letter = 'a'): string {
  return `${`${letter.repeat(63)}.`.repeat(3)}${letter.repeat(length - 192)}`
}

describe('parseDomain', () => {
  it('parseDomain accepts a domain of 253 characters, and no longer one', () => {
    expect(parseDomain(domainOf(253))).toBe(domainOf(253))
    expect(parseDomain(domainOf(254))).toBeUndefined()
    expect(parseDomain(domainOf(253, 'A'))).toBe(domainOf(253))
    expect(parseDomain(domainOf(254, 'A'))).toBeUndefined()
  })

  it.each(['example.te5', 'example.5te', '1.example', 'a.123.example1'])(
    'parseDomain accepts %s: its last label is not a number',
    (domain) => {
      expect(parseDomain(domain)).toBe(domain)
    },
  )
})

describe('parseMailbox', () => {
  const local = 'l'.repeat(64)

  it('parseMailbox accepts an address of 254 characters, and no longer one', () => {
    const domain = (last: number): string => `${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(last)}`
    const longest = `${local}@${domain(61)}`
    expect(longest).toHaveLength(254)
    expect(parseMailbox(longest)).toBe(longest)
    expect(parseMailbox(`${local}@${domain(62)}`)).toBeUndefined()
  })

  it('parseMailbox refuses an address that is longer than 254 characters only in ASCII', () => {
    const domain = `${`ü${'a'.repeat(54)}.`.repeat(3)}de`
    expect(`${local}@${domain}`.length).toBeLessThan(254)
    expect(`${local}@${parseDomain(domain)}`.length).toBeGreaterThan(254)
    expect(parseMailbox(`${local}@${domain}`)).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { maskAddress } from '../../src/model/mask-address.ts'

describe('maskAddress', () => {
  it.each([
    ['jane@example.com', 'j…@example.com'],
    ['j@example.com', 'j…@example.com'],
    ['+4915112345678', '+49…78'],
    ['https://hooks.example.com/services/T1/secret?key=secret', 'https://hooks.example.com/…'],
    ['https://example.com:8443/x', 'https://example.com:8443/…'],
    ['https://social.example/@secret/inbox', 'https://social.example/…'],
    ['https://user:secret@hooks.example.com/secret', 'https://hooks.example.com/…'],
    ['user_42', 'u…'],
    ['user:42', 'u…'],
    ['@jane', '@…'],
  ])('maskAddress shows %s as %s', (address, masked) => {
    expect(maskAddress(address)).toBe(masked)
  })

  it('maskAddress splits no surrogate pair', () => {
    for (const address of ['😀jane', '😀@example.com']) expect(maskAddress(address).isWellFormed()).toBe(true)
  })

  it('maskAddress shows the host of a URL and the first character of other addresses', () => {
    expect(['http://h.test/secret', 'HTTPS://h.test/secret', 'xhttps://h.test/s', '', 'jane'].map(maskAddress)).toEqual(
      ['http://h.test/…', 'https://h.test/…', 'x…', '…', 'j…'],
    )
  })
})

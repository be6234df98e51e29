import { expect, test } from 'vitest'
import { retryAfterMs } from '../../src/channels/retry-after.ts'

const NOW = Date.parse('1994-11-06T08:49:00Z')

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 120 ', 120_000],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
  ['Sun Nov  6 08:49:37 1994', 37_000],
  ['Sun, 06 Nov 1994 08:48:59 GMT', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e9', undefined],
  ['99999999999', undefined],
  ['2026', 2_026_000],
  ['2026-11-21', undefined],
  ['Sunshine', undefined],
  ['Sun, 99 Foo 9999 99:99:99 GMT', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('%j gives %j', (header, wait) => {
  expect(retryAfterMs(header, NOW)).toBe(wait)
})

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
  ['99999999999', 99_999_999_999_000],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ['2026', 2_026_000],
  ['2026-11-21', undefined],
  ['Sunshine', undefined],
  ['Sun, 99 Foo 9999 99:99:99 GMT', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('retryAfterMs(%j) is %j', (header, wait) => {
  expect(retryAfterMs({ retryAfter: header, date: undefined }, NOW)).toBe(wait)
})

const AN_HOUR_ON = 'Sun, 06 Nov 1994 09:49:00 GMT'

test.each([
  ['a clock that is an hour ahead of ours', 'Sun, 06 Nov 1994 09:48:30 GMT', 30_000],
  ['a clock that is an hour behind ours', 'Sun, 06 Nov 1994 07:49:00 GMT', 7_200_000],
  ['a date before the Date header', 'Sun, 06 Nov 1994 09:49:01 GMT', undefined],
  ['no date', null, 3_600_000],
  ['words in place of a date', 'Sunday, or some day', 3_600_000],
])('retryAfterMs counts a date from the Date header: %s', (_what, date, wait) => {
  expect(retryAfterMs({ retryAfter: AN_HOUR_ON, date }, NOW)).toBe(wait)
})

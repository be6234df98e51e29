import { expect, it } from 'vitest'
import { shownName } from '../../src/options/shown-value.ts'

it.each(['sk-live-4eC39', 'whsec_AAAA', 'sp_live_1', '5f4dcc3b5aa765d61d8327deb882cf99', 'a b', 'x'.repeat(41)])(
  'shownName does not repeat %s',
  (text) => {
    expect(shownName(text)).toBe('a string')
  },
)

it('shownName repeats names, numbers and booleans', () => {
  expect(['Europe/Wien', 0, false, null].map(shownName)).toEqual(['"Europe/Wien"', '0', 'false', 'null'])
})

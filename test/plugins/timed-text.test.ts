import { describe, expect, it } from 'vitest'
import { nameIn, splitTimedText, timedText } from '../../src/plugins/timed-text.ts'

const NAMES = ['s', 's0001700000000123', '1:s', '1:s0001700000000123', '', '\u{1f600}', '12:s', 's:', '9'.repeat(200)]

describe('texts of names and a time', () => {
  it('A text is read again, whatever the names are', () => {
    for (const name of NAMES) {
      expect(nameIn(timedText([name], 7))).toBe(name)
      expect(splitTimedText(`${timedText([name], 7)} rest`, [name])).toEqual({ at: 7, rest: ' rest' })
    }
  })

  it('Texts of one name sort by their times, and no text of another name lies between them', () => {
    for (const name of NAMES) {
      const texts = NAMES.flatMap((other) => [0, 123, 1_700_000_000_123].map((at) => timedText([other], at)))
      const between = texts.filter((text) => text >= timedText([name], 0) && text < timedText([name], 2 ** 52))
      expect(between).toEqual([0, 123, 1_700_000_000_123].map((at) => timedText([name], at)))
    }
  })
})

import { expect, test } from 'vitest'
import { composeText, segmentCount } from '../../src/channels/sms-segments.ts'

test.each([
  ['160 GSM characters', 'a'.repeat(160), 1],
  ['161 GSM characters', 'a'.repeat(161), 2],
  ['306 GSM characters', 'a'.repeat(306), 2],
  ['307 GSM characters', 'a'.repeat(307), 3],
  ['80 euro signs, two septets each', '€'.repeat(80), 1],
  ['81 euro signs', '€'.repeat(81), 2],
  ['a euro sign that would straddle two segments', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 3],
  ['70 characters of another script', 'й'.repeat(70), 1],
  ['71 characters of another script', 'й'.repeat(71), 2],
  ['a Cyrillic letter after 70 GSM characters', `${'a'.repeat(70)}й`, 2],
  ['35 emoji, two units each', '🎉'.repeat(35), 1],
  ['an emoji that would straddle two segments', `${'й'.repeat(66)}🎉${'й'.repeat(66)}`, 3],
  ['umlauts and line feeds of the GSM alphabet', 'ÄÖÜß\n'.repeat(32), 1],
  ['an empty text', '', 1],
])('segmentCount gives the number of segments for %s', (_what, text, segments) => {
  expect(segmentCount(text)).toBe(segments)
})

test.each([
  ['an accent', 'e\u0301', 'é'],
  ['the sign of Ångström', '\u212b', 'Å'],
  ['the sign of Ohm', '\u2126', 'Ω'],
  ['thirty marks', `e${'\u0301'.repeat(30)}`, `é${'\u0301'.repeat(29)}`],
  ['letters of Hangul', '\u1112\u1161\u11ab', '한'],
  ['a family', '👩\u200d👩\u200d👧', '👩\u200d👩\u200d👧'],
])('composeText composes %s', (_what, text, composed) => {
  expect(composeText(text)).toBe(composed)
})

test('composeText leaves a text with a long run of marks alone: to order them would take quadratic time', () => {
  const hostile = `e\u0301${'a\u0301\u0316'}${'\u0301\u0316'.repeat(100_000)}`
  expect(composeText(hostile)).toBe(hostile)
})

/** Names that databases have refused, changed or confused, of up to 200 characters. */
export const ODD_NAMES: readonly string[] = [
  'o\u2019Hara \u{1f600}',
  "'; drop table t --",
  '\\ " % _ / ~',
  'a',
  'A',
  'a ',
  '\u00e4',
  'a\u0308',
  '\u0001\n\t',
  'toString',
  ' ',
  'long-'.repeat(40),
  '\u00c4'.repeat(200),
  `${'\u00c4'.repeat(199)}B`,
  `${'\u00c4'.repeat(199)}b`,
]

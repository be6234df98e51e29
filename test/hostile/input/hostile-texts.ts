/** Stands only in values, never in keys: no refusal may hold it. */
export const CANARY = 'canary-7f3a'

const LENGTHS = [63, 64, 65, 100, 128, 129, 200, 201, 256, 257, 512, 513, 2000, 2001, 2048, 2049, 9000]

const NUMBERS = [
  ...['0', '-0', '-1', '0.1', '1.5', '1E+2', '5e-324', '1e-400', '1e308', '1.7976931348623157e308', '1e400', '-1e400'],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993', '1e21', '2147483648'],
  ...['123456789012345678901234567890', '253402300800000', '8640000000000001', `0.${'1'.repeat(500)}`],
]

/** Texts that no JSON parser may accept. */
const NO_JSON = [
  ...['NaN', 'Infinity', '-Infinity', 'undefined', '01', '1.', '.5', '+1', '0x10', '1_000', '1n', '--1', '1e', ''],
  ...["'single'", '"open', '"\\x41"', '"\\u12"', '"\n"', '"\u0000"', '[1,]', '{"a":1,}', '{a:1}', '{"a"}', '/**/1'],
]

const STRINGS = [
  ...[
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\udc00\ud800',
    '\ufeff',
    '\u2028\u2029',
    '\u0085',
    '\u007f',
    '\u001b[31m',
    '\\',
    '"',
  ],
  ...[
    '\u202eRTL\u2066',
    'e\u0301',
    `a${'\u0301'.repeat(60)}`,
    '😀',
    '👩‍👩‍👧‍👦',
    '\u{10ffff}',
    '\uffff',
    'İıſK',
    'ﬁ',
    '①',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '[object Object]',
    'null',
    '{{ data }}',
    '{% for %}',
    '#{1}',
    '%00',
    "' or 1=1 --",
  ],
  ...[
    'a@x.test, b@y.test',
    'a@x.test\r\nBcc: b@y.test',
    '"a b"@x.test',
    'a@[127.0.0.1]',
    'https://127.0.0.1/',
    'https://',
  ],
  ...[
    '+1234567890',
    '+'.repeat(20),
    '2026-11-21T08:00:00Z',
    '2026-02-30T08:00:00Z',
    '9999-12-31T23:59:60+23:59',
    '1e400',
  ],
].map((text) => `${text}${CANARY}`)

/** As JSON, with and without escapes. */
const QUOTED = [...STRINGS, '', '\u0000', '\ud83d', '-0', '12.50', 'EUR', 'completed', 'order.shipped', 'log'].map(
  (text) => JSON.stringify(text),
)

const LONG = LENGTHS.flatMap((length) => [
  JSON.stringify(CANARY.padEnd(length, 'a')),
  JSON.stringify(CANARY + '😀'.repeat(Math.ceil((length - CANARY.length) / 2))),
  JSON.stringify(CANARY + '\u0301'.repeat(length - CANARY.length)),
])

const nested = (depth: number, open: string, close: string): string => `${open.repeat(depth)}1${close.repeat(depth)}`

const DEEP = [8, 26, 28, 29, 30, 31, 32, 33, 34, 100, 5_000, 20_000].flatMap((depth) => [
  nested(depth, '[', ']'),
  nested(depth, '{"a":', '}'),
])

const WIDE = [
  `[${Array(5_000).fill('0').join()}]`,
  `[${Array(5_000).fill('[]').join()}]`,
  `{${Array.from({ length: 3_000 }, (_, index) => `"k${index}":${index}`).join()}}`,
  `{${Array(3_000).fill('"k":1').join()}}`,
]

const LURES = [
  ...[
    '{}',
    '[]',
    'null',
    'true',
    'false',
    '{"__proto__":{"polluted":1}}',
    '{"a":{"__proto__":null}}',
    '[{"__proto__":[]}]',
  ],
  ...['{"constructor":{"prototype":{"polluted":1}}}', '{"toString":1,"valueOf":null}', '{"toJSON":1}', '{"then":1}'],
  ...[
    '{"length":1e9}',
    '{"refused":"invalid_json"}',
    '{"outcome":"valid"}',
    '{"":1}',
    '{"~/":1}',
    '{"a\\u0000":1}',
    '{"\\ud800":1}',
  ],
]

/** Texts in place of a value, grouped by fault. */
export const HOSTILE_TEXTS: readonly (readonly string[])[] = [NUMBERS, NO_JSON, QUOTED, LONG, DEEP, WIDE, LURES]

export const HOSTILE_KEYS: readonly string[] = [
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'then',
    'toJSON',
    'length',
    'refused',
  ],
  ...[
    '',
    '~',
    '/',
    '~1',
    '\u0000',
    '\ud800',
    'a.b',
    '0',
    '-1',
    'eventType',
    'run',
    'runs',
    'runId',
    'status',
    'k'.repeat(65),
    'k'.repeat(9_000),
  ],
  ...['\u202e', '\ufeffrun', 'rún', 'ru\u0301n', '😀'],
]

/** Bytes that are no UTF-8: overlong, half a pair, alone, beyond the last character, never used. */
export const BAD_BYTES: readonly (readonly number[])[] = [
  [0xc0, 0x80],
  [0xc1, 0xbf],
  [0xe0, 0x80, 0xaf],
  [0xf0, 0x82, 0x82, 0xac],
  [0xed, 0xa0, 0x80],
  [0x80],
  [0xe2, 0x82],
  [0xf4, 0x90, 0x80, 0x80],
  [0xff, 0xfe],
]

import { fc } from '../../support/properties.ts'

/** Plain characters of an address. */
const ATOM = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
/** Rare but valid characters of a local part. */
const ODD = "#$&'*+/=?^_`{|}~-"

function text(of: string, minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...of), { minLength, maxLength }).map((letters) => letters.join(''))
}

const atom = fc.oneof(
  { weight: 4, arbitrary: text(ATOM, 1, 8) },
  { weight: 1, arbitrary: text(ATOM + ODD, 1, 12) },
  { weight: 1, arbitrary: fc.constantFrom('ada', "o'brien", 'ada+tag', 'a'.repeat(64), 'ADA', 'üte', '用户') },
)
const local = fc.array(atom, { minLength: 1, maxLength: 3 }).map((atoms) => atoms.join('.'))

const label = fc.oneof(
  { weight: 4, arbitrary: text('abcdefghijklmnopqrstuvwxyz', 1, 8) },
  { weight: 1, arbitrary: text(`${ATOM}-`, 1, 12) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('bücher', 'xn--bcher-kva', 'EXAMPLE', 'straße', '例え', 'a'.repeat(63), '127'),
  },
)
const domain = fc.oneof(
  { weight: 6, arbitrary: fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')) },
  { weight: 3, arbitrary: fc.constantFrom('example.test', 'Mail.Example.TEST', 'bücher.example') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('[127.0.0.1]', '127.0.0.1', 'localhost', '[IPv6:::1]', '0x7f.1', 'example.test.'),
  },
)
const address = fc.tuple(local, domain).map(([one, other]) => `${one}@${other}`)

const EVE = 'eve@evil.test'

/** Text that is inserted into an address. */
const fragment = fc.oneof(
  fc.constantFrom(
    ',',
    ';',
    ':',
    '<',
    '>',
    '"',
    '(',
    ')',
    '[',
    ']',
    '\\',
    '@',
    '%',
    '!',
    '..',
    ' ',
    '\t',
    '\0',
    '\r',
    '\n',
  ),
  fc.constantFrom(
    `,${EVE}`,
    `;${EVE}`,
    ` ${EVE}`,
    `\r\nRCPT TO:<${EVE}>`,
    `>\r\nRCPT TO:<${EVE}`,
    `\r\n.\r\n`,
    `\nBcc: ${EVE}`,
  ),
  fc.constantFrom(
    '(comment)',
    '" "',
    '\\"',
    '%0d%0a',
    '=?utf-8?q?=2C?=',
    '&#44;',
    '> SIZE=1',
    '> NOTIFY=NEVER ORCPT=rfc822;eve',
  ),
  fc.constantFrom(
    '\u00ad',
    '\u200b',
    '\u202e',
    '\u2028',
    '＠',
    '．',
    '。',
    'ﬁ',
    'ı',
    '\ud800',
    '\udc00',
    '😀',
    'é',
    'e\u0301',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
)

/** A change that makes an address hostile. */
const mutation: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.tuple(fc.nat(), fragment).map(([at, put]) => (text: string) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + put + text.slice(place)
  }),
  fc.constantFrom<((text: string) => string)[]>(
    (text) => `"${text}"`,
    (text) => `<${text}>`,
    (text) => `Ada <${text}>`,
    (text) => `"${text}" <${EVE}>`,
    (text) => `"${EVE}, x"${text}`,
    (text) => `friends:${text},${EVE};`,
    (text) => `${text}(${EVE})`,
    (text) => `(${EVE})${text}`,
    (text) => `${text},${EVE}`,
    (text) => `${EVE},${text}`,
    (text) => `@relay.test,@other.test:${text}`,
    (text) => `${text.replace('@', '%')}@relay.test`,
    (text) => `relay.test!${text}`,
    (text) => `mailto:${text}?bcc=${EVE}`,
    (text) => encodeURI(text.toWellFormed()),
    (text) => text.toUpperCase(),
    (text) => `${text}.`,
    (text) => `-${text}`,
    (text) => ` ${text} `,
    (text) => text.repeat(2),
    (text) => `${'a'.repeat(2_000)}${text}`,
    (text) => `${text}${'.a'.repeat(150)}`,
    (text) => text.slice(0, -1),
    (text) => [...text].reverse().join(''),
  ),
)

/** Recipients: some are plain mailboxes, most are mutated ones. */
export const recipient: fc.Arbitrary<string> = fc
  .tuple(
    address,
    fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 5, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
    ),
  )
  .map(([text, mutations]) => mutations.reduce((mutated, next) => next(mutated), text))

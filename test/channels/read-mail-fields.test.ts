import { describe, expect, it } from 'vitest'
import { mailFieldProblem, readMailFields } from '../../src/channels/mail-fields.ts'
import type { JsonValue } from '../../src/model/json.ts'

const MAILBOX = 'must be one mailbox: local@domain, Name <local@domain> or { name, address }'
const FILE = { filename: 'a.txt', content: 'a' }
const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at))

describe('the reading of mail fields', () => {
  it('A mail without further fields has none', () => {
    expect(readMailFields({ subject: 'Hi', text: 'Hi' })).toEqual({ cc: [], bcc: [], headers: {}, attachments: [] })
  })

  it.each<[JsonValue, object]>([
    ['a@b.test', { name: '', address: 'a@b.test' }],
    [' a@B.Test ', { name: '', address: 'a@b.test' }],
    ['<a@b.test>', { name: '', address: 'a@b.test' }],
    [' Ada L. <a@b.test> ', { name: 'Ada L.', address: 'a@b.test' }],
    ['"Lovelace, Ada" <a@b.test>', { name: 'Lovelace, Ada', address: 'a@b.test' }],
    ['Ada "the" <a@b.test>', { name: 'Ada "the"', address: 'a@b.test' }],
    ['"Ada" L <a@b.test>', { name: '"Ada" L', address: 'a@b.test' }],
    ['a "Ada" <a@b.test>', { name: 'a "Ada"', address: 'a@b.test' }],
    [{ address: 'a@b.test' }, { name: '', address: 'a@b.test' }],
    [
      { name: 'n'.repeat(255), address: 'a@b.test' },
      { name: 'n'.repeat(255), address: 'a@b.test' },
    ],
    [`${' '.repeat(732)}${'n'.repeat(255)} <a@b.test>`, { name: 'n'.repeat(255), address: 'a@b.test' }],
  ])('%j is a mailbox', (from, expected) => {
    expect(readMailFields({ from })).toMatchObject({ from: expected })
  })

  it.each<[string, JsonValue]>([
    ['a name of another type', { name: 7, address: 'a@b.test' }],
    ['an address of another type', { name: 'a', address: ['a@b.test'] }],
    ['a name of 256 characters', { name: 'n'.repeat(256), address: 'a@b.test' }],
    ['a text of 999 characters', `${' '.repeat(988)} <a@b.test>`],
    ['no address', { name: 'a' }],
    ['true', true],
    ['two addresses', 'A <a@b.test> <c@d.test>'],
    ['a rest', 'A <a@b.test> x'],
  ])('%s is no mailbox', (_what, from) => {
    expect(readMailFields({ from })).toBe('from')
    expect(mailFieldProblem('from', from)).toBe(`from ${MAILBOX}`)
  })

  it('The greatest lists are read', () => {
    const cc = times(50, (at) => `a${at}@b.test`)
    const headers = Object.fromEntries(times(50, (at) => [`X-${at}`, 'x'.repeat(990)]))
    const attachments = times(20, () => FILE)
    expect(readMailFields({ cc, headers, attachments })).toMatchObject({ cc: { length: 50 }, headers, attachments })
    expect(readMailFields({ headers: { 'X-A': 'x'.repeat(993) } })).toMatchObject({ headers: {} })
    expect(readMailFields({ headers: { [`X${'-a'.repeat(37)}b`]: '' } })).toMatchObject({ headers: {} })
  })

  it('An attachment has the facts that were given', () => {
    const image = {
      filename: 'f'.repeat(255),
      content: 'AAE=',
      encoding: 'base64',
      contentType: 'image/png',
      cid: 'a@b',
    }
    expect(readMailFields({ attachments: [FILE, image] })).toMatchObject({
      attachments: [
        { ...FILE, encoding: 'utf8', contentDisposition: 'attachment' },
        { ...image, contentDisposition: 'inline' },
      ],
    })
    const fields = readMailFields({ attachments: [FILE] })
    expect(typeof fields === 'object' && Object.keys(fields.attachments[0] ?? {}).toSorted()).toEqual([
      'content',
      'contentDisposition',
      'encoding',
      'filename',
    ])
  })

  it.each([
    ['', 'QQ==', 1],
    ['Q', 'QUE=', 2],
    ['QU', 'QUFB', 3],
  ])('The bytes of base64 count as they are decoded (%#)', (_start, end, bytes) => {
    const content = `${'AAAA'.repeat(87_381)}${end}`
    const isTooMuch = 87_381 * 3 + bytes > 262_144
    const found = readMailFields({ attachments: [{ filename: 'a', content, encoding: 'base64' }] })
    expect(found === 'attachments').toBe(isTooMuch)
  })

  it.each<[string, JsonValue, string]>([
    ['cc', times(51, (at) => `a${at}@b.test`), 'must have at most 50 mailboxes'],
    ['headers', null, 'must be an object of texts by name'],
    ['headers', [], 'must be an object of texts by name'],
    ['headers', 7, 'must be an object of texts by name'],
    ['headers', Object.fromEntries(times(51, (at) => [`X-${at}`, ''])), 'must have at most 50 headers'],
    ['headers', { '-A': 'b' }, 'must have names of A-Z a-z 0-9 _ -, at most 76 characters'],
    ['headers', { ['a'.repeat(77)]: 'b' }, 'must have names of A-Z a-z 0-9 _ -, at most 76 characters'],
    ['headers', { 'resent-to': 'b' }, 'cannot set resent-to: the channel or the mail system sets it'],
    ['headers', { 'X-A': 'x'.repeat(994) }, 'must have a single line without control characters as X-A'],
    ['headers', { 'X-A': ['b'] }, 'must have a single line without control characters as X-A'],
    ['attachments', times(21, () => FILE), 'must be a list of at most 20 attachments'],
    ['attachments', 'a', 'must be a list of at most 20 attachments'],
    ['attachments', [{ ...FILE, content: 'x'.repeat(262_145) }], 'must have at most 262144 bytes in all'],
    ['attachments', [{ ...FILE, path: 'x' }], 'knows no path: filename, content, encoding, contentType, cid'],
    ['attachments', [{ ...FILE, filename: '' }], 'needs a filename of one line without a path, at most 255 characters'],
    [
      'attachments',
      [{ ...FILE, filename: 'f'.repeat(256) }],
      'needs a filename of one line without a path, at most 255 characters',
    ],
    [
      'attachments',
      [{ ...FILE, filename: 'a\\b' }],
      'needs a filename of one line without a path, at most 255 characters',
    ],
    ['attachments', [{ ...FILE, encoding: 'hex' }], 'has an encoding that is not utf8 or base64'],
    ['attachments', [{ ...FILE, content: 7 }], 'has content of a.txt that is not a text'],
    ['attachments', [{ ...FILE, content: 'abc', encoding: 'base64' }], 'has content of a.txt that is not base64'],
    ['attachments', [{ ...FILE, content: 'ab-_', encoding: 'base64' }], 'has content of a.txt that is not base64'],
    ['attachments', [{ ...FILE, contentType: 7 }], 'has a contentType that is no media type'],
    ['attachments', [{ ...FILE, contentType: ['text/plain'] }], 'has a contentType that is no media type'],
    ['attachments', [{ ...FILE, cid: 'a b' }], 'has a cid that is no Content-ID, such as logo or logo@example.com'],
    ['attachments', [{ ...FILE, cid: ['a'] }], 'has a cid that is no Content-ID, such as logo or logo@example.com'],
  ])('The problem of %s is told (%#)', (field, value, detail) => {
    expect(mailFieldProblem(field, value)).toBe(`${field} ${detail}`)
  })

  it('Fields of other names have no problem', () => {
    for (const field of ['subject', 'toString', '__proto__']) expect(mailFieldProblem(field, {})).toBeUndefined()
  })
})

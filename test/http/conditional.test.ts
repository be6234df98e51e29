import { expect, test } from 'vitest'
import { conditional } from '../../src/http/conditional.ts'

const WIRE = {
  status: 200,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  text: '{"a":1}',
}
const { etag = '' }: Readonly<Record<string, string>> = (await conditional(WIRE, {})).headers

test.each([
  ['the tag', etag],
  ['the weak tag', `W/${etag}`],
  ['a list with the tag', `"other", ${etag}`],
  ['a list with the weak tag', `W/"other",W/${etag} , "more"`],
  ['several headers, one with the weak tag', ['"other"', `W/${etag}`]],
  ['any tag', '*'],
])('If-None-Match with %s is answered 304 without a text and a type', async (_, header) => {
  const headers = { 'cache-control': 'no-store', etag }
  expect(await conditional(WIRE, { 'if-none-match': header })).toEqual({ status: 304, headers, text: '' })
})

test.each([
  ['another tag', '"other"'],
  ['a weak other tag', 'W/"other"'],
  ['the tag without quotes', etag.slice(1, -1)],
  ['the tag with a lower-case weakness', `w/${etag}`],
  ['nothing', ''],
])('If-None-Match with %s is answered with the whole text', async (_, header) => {
  expect(await conditional(WIRE, { 'if-none-match': header })).toEqual({ ...WIRE, headers: { ...WIRE.headers, etag } })
})

test('An answer that is no success has no entity tag and is never 304', async () => {
  const refused = { ...WIRE, status: 404 }
  expect(await conditional(refused, { 'if-none-match': '*' })).toBe(refused)
})

import { describe, expect, test } from 'vitest'
import { render, templateFault, text } from './compile.ts'

const DATA = {
  ...{ n: 7, below: -2.5, nothing: null, empty: '', blank: '  ', words: 'A b  c', lines: 'a\r\nb\nc' },
  ...{ html: '<p>x &amp; <b>y</b></p>', at: '2026-11-21T08:00:00.000Z', object: { a: 1 } },
  ...{ list: [3, 1, 2], holes: [1, null, 2], letters: ['b', 'a', 'b'], mixed: ['x', 2, null, 'a', 1, true], none: [] },
  ...{ same: [1, [2]], copy: [1, [2]], other: [1, [3]], longer: [1, [2], 3], table: [[1, [2]], 4] },
  nested: [{ a: { b: 2 } }, { a: { b: 1 } }, {}],
  switches: [{ id: 'a', on: true }, { id: 'b', on: false }, { id: 'c', on: null }, { id: 'd' }, { id: 'e', on: 0 }],
}

describe('filters', () => {
  test.each([
    ['{{ data.words | prepend: ">" | append: "<" }}', '>A b  c<'],
    ['{{ data.words | downcase | capitalize }}', 'A b  c'],
    ['{{ data.words | squish }}', 'A b c'],
    ['{{ data.words | truncatewords: 2 }}', 'A b...'],
    [
      '{{ data.words | slice: 0, 3 }} {{ data.list | slice: 1, 2 | join: "," }} {{ 12345 | slice: 1, 2 }}',
      'A b 1,2 23',
    ],
    ['{{ data.lines | strip_newlines }}', 'abc'],
    ['{{ data.lines | newline_to_br }}', 'a<br />\nb<br />\nc'],
    ['{{ data.html | strip_html }}', 'x &amp; y'],
    ['[{{ " a " | lstrip }}][{{ " a " | rstrip }}][{{ " a " | strip }}]', '[a ][ a][a]'],
    ['{{ "banana" | remove: "a" }} {{ "banana" | remove_first: "a" }}', 'bnn bnana'],
    ['{{ "banana" | replace_first: "a", "o" }} {{ data.n | replace: 7, 8 }}', 'bonana 8'],
    ['{{ "a" | append: 1 }} {{ "a" | append: data.list }}', 'a1 a312'],
    ['{{ data.nothing | upcase }}|{{ data.nothing | replace: "a", "b" }}', '|'],
    ['{{ "<a>\'\\"&" | escape }} {{ "&lt;<&" | escape_once }}', '&lt;a&gt;&#39;&#34;&amp; &lt;&lt;&amp;'],
    ['{{ "JAVASCRIPT:alert(1)" | safe_url }} {{ "https://a.test/ b" | safe_url }}', '# https://a.test/%20b'],
  ])('The text filters of %s give %s', async (source, rendered) => {
    expect(await text(source, DATA)).toBe(rendered)
  })

  test.each([
    ['{{ data.below | abs }} {{ data.below | ceil }} {{ data.below | floor }}', '2.5 -2 -3'],
    ['{{ data.n | at_least: 9 }} {{ data.n | at_most: 5 }}', '9 5'],
    ['{{ data.n | minus: 2 }} {{ data.n | modulo: 4 }} {{ data.n | times: 3 }}', '5 3 21'],
    ['{{ "7" | plus: "1" }} {{ data.nothing | plus: 1 }}', '8 1'],
    ['{{ "5 apples" | plus: 1 }} {{ data.list | plus: 1 }}', '6 1'],
  ])('The number filters of %s give %s', async (source, rendered) => {
    expect(await text(source, DATA)).toBe(rendered)
  })

  test.each([
    ['{{ data.list | join }} {{ data.holes | join: "-" }} {{ data.letters | join: data.n }}', '3 1 2 1--2 b7a7b'],
    ['{{ data.n | join: "," }}[{{ data.nothing | join: "," }}]', '7[]'],
    ['{{ data.holes | compact | join: "," }} {{ data.list | concat: data.letters | join }}', '1,2 3 1 2 b a b'],
    ['{{ data.list | first }} {{ data.list | last }} {{ data.list | reverse | join }}', '3 2 2 1 3'],
    ['{{ data.nested | map: "a.b" | join: "," }}', '2,1,'],
    ['{{ data.list | sort | join: "," }} {{ data.letters | sort | join: "," }}', '1,2,3 a,b,b'],
    ['{{ data.mixed | sort | join: "," }}', '1,2,a,x,,true'],
    ['{{ data.nested | sort: "a.b" | map: "a.b" | join: "," }}', '1,2,'],
    ['{{ data.list | sum }} {{ data.nested | sum: "a.b" }} {{ data.none | sum }}', '6 3 0'],
    ['{{ data.switches | where: "on" | map: "id" | join }}', 'a e'],
    ['{{ data.switches | where: "on", false | map: "id" | join }}', 'b'],
    ['{{ data.switches | where: "on", nil | map: "id" | join }}', 'c d'],
    ['{{ data.switches | where: "id", "b" | map: "id" | join }}', 'b'],
    ['{{ data.letters | where: "length" | size }}', '0'],
    ['{{ data.n | default: 1 }} {{ data.empty | default: 1 }} {{ data.none | default: 2 }}', '7 1 2'],
  ])('The list filters of %s give %s', async (source, rendered) => {
    expect(await text(source, DATA)).toBe(rendered)
  })

  test('A property of a list filter is a text of at most 200 characters', async () => {
    const detail = 'a property is named by a short text without brackets (line 1, column 1)'
    expect(await text(`{{ data.list | map: "${'a'.repeat(200)}" | size }}`, DATA)).toBe('3')
    for (const property of ['5', `"${'a'.repeat(201)}"`])
      for (const filter of ['map', 'sort', 'sum', 'where'])
        expect(await render(`{{ data.list | ${filter}: ${property} }}`, DATA)).toEqual({ outcome: 'error', detail })
  })

  test.each(['{{ 1 | divided_by: 0 }}', '{{ data.n | modulo: data.nothing }}', '{{ data.n | divided_by: "apples" }}'])(
    'A division by zero is an error: %s',
    async (source) => {
      const detail = 'a number is divided by zero (line 1, column 1)'
      expect(await render(source, DATA)).toEqual({ outcome: 'error', detail })
    },
  )

  test('A number beyond the range is an error', async () => {
    const detail = 'a number is too large (line 1, column 1)'
    const data = { huge: 1e308 }
    for (const source of ['{{ data.huge | times: 10 }}', '{{ data.huge | plus: data.huge }}'])
      expect(await render(source, data)).toEqual({ outcome: 'error', detail })
  })

  test.each([
    ['{{ " a" | strip: "a" }}', 'The filter "strip" takes no arguments, not 1.', 11],
    ['{{ 5 | times }}', 'The filter "times" takes 1 argument, not 0.', 8],
    ['{{ 5 | plus: 1, 2 }}', 'The filter "plus" takes 1 argument, not 2.', 8],
    ['{% assign a = data.list | where %}', 'The filter "where" takes 1 to 2 arguments, not 0.', 27],
    [
      '{% if true %}{{ data.at | date: "%Y", 60, 1 }}{% endif %}',
      'The filter "date" takes 0 to 2 arguments, not 3.',
      27,
    ],
    ['{{ data.x | default: 1, allow: true }}', 'The filter "default" has no option "allow".', 13],
    ['{{ data.x | default: allow_false: true, 1 }}', 'The options of the filter "default" follow its arguments.', 13],
    ['{{ data.x | join: sep: "," }}', 'The filter "join" has no option "sep".', 13],
    [
      '{{ data.list | map: "a[0]" }}',
      'The filter "map" takes a path of names such as "address.city", without brackets.',
      16,
    ],
  ])('Arguments that would be ignored, or are missing, are refused at start: %s', (source, fault, column) => {
    expect(templateFault(source)).toEqual({ fault, line: 1, column })
  })

  test('A property path from the data has no brackets', async () => {
    const detail = 'a property is named by a short text without brackets (line 1, column 1)'
    expect(await render('{{ data.list | map: data.path }}', { list: [], path: 'a[0]' })).toEqual({
      ...{ outcome: 'error', detail },
    })
  })

  test('Options of a filter that it has are no arguments', async () => {
    expect(await text('{{ data.off | default: 1, allow_false: true }}', { off: false })).toBe('false')
  })

  test('A date has an optional format of at most 100 characters, and a zone as name or offset', async () => {
    expect(await text('{{ data.at | date }}', DATA)).toBe('Saturday, November 21, 2026 at 8:00 am +0000')
    expect(await text('{{ data.at | date: "%H:%M", 60 }}', DATA)).toBe('07:00')
    expect(await text(`{{ data.at | date: "${'%H'.repeat(50)}" }}`, DATA)).toBe('08'.repeat(50))
    const detail = (what: string) => ({ outcome: 'error', detail: `${what} is too long (line 1, column 1)` })
    expect(await render(`{{ data.at | date: "${'%H'.repeat(50)}x" }}`, DATA)).toEqual(detail('a date format'))
    expect(await render(`{{ data.at | date: "%H", "${'x'.repeat(65)}" }}`, DATA)).toEqual(detail('a time zone'))
  })

  test('The date filter returns a list, null and a text over 64 characters unchanged', async () => {
    expect(await text('{{ data.list | date: "%Y" | join }}[{{ data.nothing | date: "%Y" }}]', DATA)).toBe('3 1 2[]')
    const padded = (length: number) => ({ at: '2026-11-21'.padEnd(length) })
    expect(await text('{{ data.at | date: "%Y" }}', padded(64))).toBe('2026')
    expect(await text('{{ data.at | date: "%Y" | size }}', padded(65))).toBe('65')
  })
})

describe('operators', () => {
  test.each([
    'data.same == data.copy',
    'data.same != data.other',
    'data.same != data.longer',
    'data.object == data.object',
    'data.list != 3',
    'data.n != "7"',
    'data.nothing == nil',
    'data.empty == empty',
    'data.none == empty',
    'data.words != empty',
    'data.blank == blank',
    'data.words != blank',
    'data.list contains 3',
    'data.letters contains "b"',
    'data.table contains data.same',
    '"room 7" contains 7',
    '"a" < "b"',
    '2 <= 2',
    '3 > 2',
    '3 >= 3',
  ])('A condition holds: %s', async (condition) => {
    expect(await text(`{% if ${condition} %}yes{% else %}no{% endif %}`, DATA)).toBe('yes')
  })

  test.each([
    'data.same != data.copy',
    'data.same == data.other',
    'data.same == data.longer',
    'data.list contains "3"',
    'data.same contains data.copy',
    'data.n contains 7',
    '"room 7" contains data.nothing',
    'data.n != 7',
    'data.list < 9',
    '9 > data.list',
    'data.object <= 9',
    '"b" <= "a"',
    '2 < 2',
    '2 > 2',
    '3 >= 4',
  ])('A condition does not hold: %s', async (condition) => {
    expect(await text(`{% if ${condition} %}yes{% else %}no{% endif %}`, DATA)).toBe('no')
  })
})

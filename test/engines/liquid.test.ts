import { describe, expect, test } from 'vitest'
import { liquid } from '../../src/engines/liquid.ts'
import { isSallyportError } from '../../src/errors.ts'
import { render, templateFault, text } from './compile.ts'

describe('rendering', () => {
  test('A template renders values, lists and fields of an object', async () => {
    const data = { name: 'Ann', order: { id: 'o1' }, tags: ['a', 'b'], count: 3, paid: false, note: null }
    expect(
      await text(
        '{{ data.name }} {{ data.order.id }} {{ data.tags }} {{ data.count }} {{ data.paid }}[{{ data.note }}]',
        data,
      ),
    ) //
      .toBe('Ann o1 ab 3 false[]')
  })

  test('A template loops with counters over lists, objects and ranges', async () => {
    expect(
      await text(
        '{% for i in data.items %}{{ forloop.index }}:{{ i.name }}{% unless forloop.last %}, {% endunless %}{% endfor %}',
        { items: [{ name: 'tea' }, { name: 'jam' }] },
      ),
    ).toBe('1:tea, 2:jam')
    expect(
      await text('{% for pair in data.map %}{{ pair[0] }}={{ pair[1] }};{% endfor %}', { map: { a: 1, b: 2 } }),
    ).toBe('a=1;b=2;')
    expect(await text('{% for i in (1..data.n) reversed %}{{ i }}{% endfor %}', { n: 3 })).toBe('321')
    expect(
      await text('{% for i in data.l limit: 2 offset: 1 %}{{ i }}{% else %}none{% endfor %}', { l: [1, 2, 3, 4] }),
    ).toBe('23')
    expect(
      await text(
        '{% for i in data.l %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}',
        { l: [1, 2, 3, 4, 5] },
      ),
    ).toBe('13')
    expect(await text('{% for i in (1..3) %}{% cycle "odd", "even" %} {% endfor %}')).toBe('odd even odd ')
  })

  test('A template has conditions, cases, captures, comments and raw blocks', async () => {
    expect(
      await text(
        '{% if data.l contains "x" and data.s contains "b" and data.e == empty and data.n == nil %}y{% endif %}',
        {
          l: ['x'],
          s: 'abc',
          e: [],
          n: null,
        },
      ),
    ).toBe('y')
    expect(
      await text('{% case data.k %}{% when 1, 2 %}low{% when empty %}none{% else %}high{% endcase %}', { k: 2 }),
    ).toBe('low')
    expect(
      await text('{% case data.k %}{% when 1, 2 %}low{% when empty %}none{% else %}high{% endcase %}', { k: '' }),
    ).toBe('none')
    expect(await text('{% capture a %}x{{ data.n }}{% endcapture %}{{ a }}{{ a }}', { n: 1 })).toBe('x1x1')
    expect(await text('{% comment %}{% if %}{% endcomment %}{%- # note -%} {% raw %}{{ x }}{% endraw %}')).toBe(
      '{{ x }}',
    )
  })

  test('A template has text, number and list filters', async () => {
    const data = {
      cents: 1234,
      s: ' banana ',
      items: [
        { n: 'z', k: 1 },
        { n: 'y', k: 2 },
        { n: 'b', k: 1 },
      ],
      words: 'a,b',
    }
    expect(await text('{{ data.cents | divided_by: 100.0 | round: 2 }}', data)).toBe('12.34')
    expect(await text('{{ data.s | strip | replace: "a", "o" | upcase | truncate: 5, "." | append: "!" }}', data)).toBe(
      'BONO.!',
    )
    expect(
      await text('{{ "a b&c" | url_encode }} {{ data.words | split: "," | last }} {{ data.words | size }}', data),
    ).toBe('a+b%26c b 3')
    expect(await text('{% assign w = data.items | where: "k", 1 %}{{ w | map: "n" | join: "-" }}', data)).toBe('z-b')
    expect(
      await text(
        '{{ data.items | sort: "n" | map: "n" | join }} {{ data.items | sum: "k" }} {{ data.items.size }}',
        data,
      ),
    ).toBe('b y z 4 3')
    expect(
      await text('{{ data.items | map: "k" | uniq | reverse | join: "," }} {{ data.items | where: "n" | size }}', data),
    ).toBe('2,1 3')
  })

  test('An object cannot be rendered as text', async () => {
    expect(await render('\n{{ data.o }}', { o: { a: 1 } })).toEqual({
      outcome: 'error',
      detail: 'an object stands where text is needed; name one of its fields (line 2, column 1)',
    })
  })

  test('A rendering keeps no state for the next', async () => {
    const template = liquid().compile('{% assign n = data.n %}{% cycle "a", "b" %}{{ n }}', 'none')
    if (typeof template !== 'function') throw new Error(template.fault)
    for (const n of [1, 2, 3]) expect(await template({ data: { n } })).toEqual({ outcome: 'rendered', text: `a${n}` })
    for (let i = 0; i < 200; i++)
      expect(await template({ data: { n: 'x'.repeat(10_000) } })).toMatchObject({ outcome: 'rendered' })
  })
})

describe('dates', () => {
  const data = { at: '2026-11-21T08:00:00.000Z', epoch: 1_795_248_000 }

  test('Dates are in UTC and English by default, in any process', async () => {
    expect(await text('{{ data.at | date: "%d %B %Y %H:%M" }}', data)).toBe('21 November 2026 08:00')
    expect(await text('{{ data.epoch | date: "%Y-%m-%d %H" }}', data)).toBe('2026-11-21 08')
  })

  test('Dates take a time zone from the filter or the options', async () => {
    expect(await text('{{ data.at | date: "%H:%M", "Europe/Vienna" }}', data)).toBe('09:00')
    const template = liquid({ locale: 'de-AT', timeZone: 'Europe/Vienna' }).compile(
      '{{ data.at | date: "%A %H:%M" }}',
      'none',
    )
    if (typeof template !== 'function') throw new Error(template.fault)
    expect(await template({ data })).toEqual({ outcome: 'rendered', text: 'Samstag 09:00' })
  })

  test('The date filter returns other values unchanged and fails for an unknown zone', async () => {
    expect(await text('{{ data.at | date: "%Y" }}', { at: 'soon' })).toBe('soon')
    expect(await render('{{ data.at | date: "%Y", data.zone }}', { ...data, zone: 'No/Where' })).toEqual({
      outcome: 'error',
      detail: 'the template could not be rendered (line 1, column 1)',
      cause: expect.any(RangeError),
    })
  })

  test('`liquid` refuses an unknown locale or time zone', async () => {
    for (const options of [{ timeZone: 'No/Where' }, { locale: '-' }]) {
      try {
        liquid(options)
        expect.unreachable()
      } catch (error) {
        expect(isSallyportError(error) && error.code).toBe('option_invalid')
      }
    }
  })
})

describe('escaping', () => {
  const data = { x: '<b a="1">&\'', l: ['<', '>'], br: 'a<\nb' }

  test('Every value is escaped in HTML and none in text', async () => {
    expect(await text('{{ data.x }}{{ data.l }}<i>', data, 'html')).toBe('&lt;b a=&#34;1&#34;&gt;&amp;&#39;&lt;&gt;<i>')
    expect(await text('{{ data.x }}{{ data.l }}<i>', data)).toBe('<b a="1">&\'<><i>')
  })

  test('Captures, cycles and results of filters are escaped', async () => {
    for (const value of [
      'data.x | default: ""',
      'data.x | append: "<"',
      'data.l | join: "<"',
      'data.l | first',
      'data.x | replace: "b", "<"',
    ]) {
      expect(await text(`{{ ${value} }}`, data, 'html')).not.toMatch(/[<>"']/)
    }
    expect(await text('{% cycle data.x %}', data, 'html')).not.toMatch(/[<>"']/)
    expect(await text('{% capture a %}{{ data.x }}{% endcapture %}{{ a }}', data, 'html')).not.toMatch(/[<>"']/)
  })

  test('A value is not escaped twice if escape is the last filter', async () => {
    expect(await text('{{ data.x | escape }}', { x: '<' }, 'html')).toBe('&lt;')
    expect(await text('{{ data.x | escape_once }}', { x: '&lt;<' }, 'html')).toBe('&lt;&lt;')
    expect(await text('{{ data.br | newline_to_br }}', data, 'html')).toBe('a&lt;<br />\nb')
    expect(await text('{{ data.br | escape | newline_to_br }}', data, 'html')).toBe('a&lt;<br />\nb')
    expect(await text('{{ data.x | escape | upcase }}', { x: '<' }, 'html')).toBe('&amp;LT;')
    expect(await text('{{ data.x | escape }}', { x: '<' })).toBe('&lt;')
  })

  test('A capture is not escaped twice, but the result of a filter on it is escaped', async () => {
    const capture = '{% capture a %}<b>{{ data.x }}</b>{% endcapture %}'
    expect(await text(`${capture}{{ a }}{% assign b = a %}{{ b }}`, { x: "O'Neil" }, 'html')).toBe(
      '<b>O&#39;Neil</b>'.repeat(2),
    )
    expect(await text(`${capture}{{ a | append: data.y }}`, { x: 1, y: '<' }, 'html')).toBe('&lt;b&gt;1&lt;/b&gt;&lt;')
    expect(await text(`${capture}{{ a | downcase }}`, { x: '<' }, 'html')).not.toMatch(/[<>]/)
    expect(
      await text(
        '{% capture n %}5{% endcapture %}{{ n | plus: 1 }} {{ n.size }} {{ n | size }} {% if n == "5" and n contains "5" %}y{% endif %}{% case n %}{% when "5" %}z{% endcase %}',
        {},
        'html',
      ),
    ).toBe('6 1 1 yz')
  })

  test('Escaping cannot be turned off', async () => {
    expect(templateFault('ab\n {{ data.x | raw }}', 'html')).toEqual({
      fault: 'The filter "raw" is not available: values are always escaped in HTML.',
      line: 2,
      column: 14,
    })
  })
})

describe('absent variables', () => {
  test('An absent variable makes the rendering missing, with its full path', async () => {
    const missing = (source: string, data: unknown = {}) => render(source, data)
    expect(await missing('{{ data.order.id }}')).toEqual({ outcome: 'missing', path: 'data.order.id' })
    expect(await missing('{{ data.order.id }}', { order: {} })).toEqual({ outcome: 'missing', path: 'data.order.id' })
    expect(await missing('{{ data["order"].lines[0] }}')).toEqual({ outcome: 'missing', path: 'data.order.lines.0' })
    expect(await missing('{% for i in data.items %}{{ i.name }}{% endfor %}', { items: [{}] })).toEqual({
      outcome: 'missing',
      path: 'i.name',
    })
    expect(await missing('{% for i in data.items %}{% endfor %}')).toEqual({ outcome: 'missing', path: 'data.items' })
    expect(await missing('{% assign x = data.x %}')).toEqual({ outcome: 'missing', path: 'data.x' })
    expect(await missing('{{ data.a | append: data.b }}', { a: 'x' })).toEqual({ outcome: 'missing', path: 'data.b' })
  })

  test('An absent variable is named as in the template, never by a value', async () => {
    expect(await render('{{ data.map[data.key] }}', { map: {}, key: 'secret' })).toEqual({
      outcome: 'missing',
      path: 'data.map[data.key]',
    })
  })

  test('An absent variable is allowed in conditions and before default', async () => {
    expect(await text('{{ data.a.b | default: "-" }}{% assign x = data.c | default: 1 %}{{ x }}')).toBe('-1')
    expect(await text('{% if data.x.y %}a{% elsif data.z == 1 %}b{% else %}c{% endif %}')).toBe('c')
    expect(await text('{% unless data.x %}a{% endunless %}{% case data.x %}{% when 1 %}{% else %}b{% endcase %}')).toBe(
      'ab',
    )
    expect(await render('{{ data.x | upcase | default: "-" }}')).toEqual({ outcome: 'missing', path: 'data.x' })
  })

  test('A null variable is not missing', async () => {
    expect(await text('[{{ data.x }}][{{ data.x.y }}]', { x: null })).toBe('[][]')
  })
})

describe('a template that does not compile', () => {
  test('The fault names a variable that is neither a fact nor assigned', async () => {
    expect(templateFault('{{ data.x }}\n{{ orderId }}')).toEqual({
      fault: '"orderId" is none of data, recipient, events and links; write data.orderId?',
      line: 2,
      column: 4,
    })
    expect(templateFault('{% if constructor %}{% endif %}')).toMatchObject({ line: 1 })
    for (const [path, meant] of [
      ['order.id', 'data.order.id'],
      ['eventData.id', 'data.id'],
      ['eventData', 'data'],
      ['recipent.email', 'recipient.email'],
    ]) {
      expect(templateFault(`{{ ${path} }}`).fault).toContain(`write ${meant}?`)
    }
  })

  test('The fault has the line and the column', async () => {
    expect(templateFault('a\nb {% if data.x = 1 %}{% endif %}')).toEqual({
      fault: 'Expected "|" before filter.',
      line: 2,
      column: 17,
    })
    expect(templateFault('x\n  {% if data.x %}')).toEqual({
      fault: 'Tag {% if data.x %} not closed.',
      line: 2,
      column: 3,
    })
    expect(templateFault('x\n  {{ data.x ')).toMatchObject({ line: 2, column: 3 })
    expect(templateFault('{% else %}')).toEqual({
      fault: 'The tag "else" belongs to nothing here.',
      line: 1,
      column: 1,
    })
    expect(templateFault('\n{{ data.x | nope }}')).toEqual({
      fault: 'The filter "nope" is not available.',
      line: 2,
      column: 13,
    })
    expect(templateFault('{% cycle "a", "b" | nope %}')).toEqual({
      fault: 'The filter "nope" is not available.',
      line: 1,
      column: 21,
    })
  })
})

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { render, templateFault, text } from './compile.ts'

// The limit of running time is a backstop for the limits of work, and never stops a rendering here.
beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

const TOO_MUCH = expect.objectContaining({ outcome: 'error', detail: expect.stringContaining('too much data') })
const TOO_LONG = expect.objectContaining({ outcome: 'error', detail: expect.stringContaining('262144 characters') })
const long = 'a'.repeat(250_000)
const list = Array.from({ length: 120_000 }, () => 1)
/** 16,384 references to whatever `data.l` holds. */
const doubled = `{% assign a = data.l %}${'{% assign a = a | concat: a %}'.repeat(14)}`

describe('a template', () => {
  test.each([
    'include',
    'render',
    'layout',
    'block',
    'tablerow',
    'increment',
    'decrement',
    'echo',
    'liquid',
    'constructor',
    '__proto__',
  ])('A template cannot use the tag %s', async (tag) => {
    expect(templateFault(`{% ${tag} 'package.json' %}`)).toEqual({
      fault: `The tag "${tag}" is not available.`,
      line: 1,
      column: 1,
    })
  })

  test.each([
    ...[
      'raw',
      'where_exp',
      'reject_exp',
      'find_exp',
      'group_by_exp',
      'has_exp',
      'json',
      'inspect',
      'sha256',
      'base64_decode',
    ],
    ...['valueOf', 'constructor', 'toString', '__proto__', 'hasOwnProperty'],
  ])('A template cannot use the filter %s', async (filter) => {
    expect(templateFault(`{{ data.x | ${filter} }}`).fault).toContain(`The filter "${filter}" is not available`)
    expect(templateFault(`{% if data.x %}{% cycle data.x | ${filter} %}{% endif %}`, 'html').fault).toContain(filter)
  })

  test('A template nests at most 32 tags', async () => {
    const nested = (depth: number) => `${'{% if true %}'.repeat(depth)}x${'{% endif %}'.repeat(depth)}`
    expect(await text(nested(32))).toBe('x')
    expect(templateFault(nested(33))).toEqual({ fault: 'Tags nest deeper than 32 levels.', line: 1, column: 417 })
    expect(templateFault('{%if 1%}'.repeat(5000)).fault).toBe('Tags nest deeper than 32 levels.')
    expect(await text('{% if true %}x{% endif %}'.repeat(100))).toBe('x'.repeat(100))
  })

  test('A template with deeply nested expressions is refused', async () => {
    expect(templateFault(`{{ ${'a['.repeat(20_000)}b${']'.repeat(20_000)} }}`).fault).toBe(
      'The template nests too deeply to be parsed.',
    )
  })

  test('A template has at most 65,536 characters', async () => {
    expect(await text('x'.repeat(65_536))).toHaveLength(65_536)
    expect(templateFault('x'.repeat(65_537)).fault).toBe('The template is longer than 65536 characters.')
  })

  test.each([
    '{% for i in (data.a..data.b) %}{% endfor %}',
    '{% for i in (9007199254740992..9007199254740993) %}{% endfor %}',
    '{% for i in (1..(data.a..data.b)) %}{% endfor %}',
    '{% for i in data.l limit: (data.a..2) %}{% endfor %}',
    '{{ (9007199254740992..9007199254740993) | join }}',
    '{{ data.x | default: (data.a..data.b) }}',
    '{% if data.x == (data.a..3) %}{% endif %}',
    '{% case 1 %}{% when (data.a..2) %}{% endcase %}',
    '{% cycle (data.a..3) %}',
    '{{ data[(data.a..3)] }}',
  ])('A template with an unbounded range is refused: %s', async (source) => {
    expect(templateFault(source).fault).toMatch(/^A range stands after/)
  })
})

describe('inherited properties', () => {
  test.each([
    ['{{ data.constructor }}', 'data.constructor'],
    ['{{ data.constructor.constructor }}', 'data.constructor.constructor'],
    ['{{ data.__proto__ }}', 'data.__proto__'],
    ['{{ data["__proto__"].polluted }}', 'data.__proto__.polluted'],
    ['{{ data.name.constructor }}', 'data.name.constructor'],
    ['{{ data.items.map }}', 'data.items.map'],
  ])('Inherited properties are absent: %s', async (source, path) => {
    expect(await render(source, { name: 'x', items: [1] })).toEqual({ outcome: 'missing', path })
  })

  test('Filters do not read inherited properties', async () => {
    expect(
      await text('{{ data.l | map: "constructor" | join }}|{{ data.l | where: "toString" | size }}', { l: [{}] }),
    ).toBe('|0')
  })

  test('Own keys with the names of inherited properties are plain data', async () => {
    const data = JSON.parse('{"__proto__": {"polluted": "yes"}, "constructor": "c"}')
    expect(
      await text('{{ data.constructor }} {% assign __proto__ = data %}{{ data.polluted | default: "clean" }}', data),
    ).toBe('c clean')
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('hostile data', () => {
  const data = {
    o: { toString: null, valueOf: null },
    l: [{ toString: null }],
    secret: 'sk_live_1',
    big: long,
    bad: '\ud800',
  }

  test.each([
    '{{ data.o }}',
    '{{ data.l }}',
    '{{ data.o | upcase }}',
    '{{ data.l | join }}',
    '{{ "x" | append: data.o }}',
    '{{ data.secret | replace: data.o, "" }}',
    '{{ data.secret | date: data.o }}',
    '{{ data.l | map: data.o }}',
    '{{ data.bad | url_encode }}',
    '{% cycle data.o: 1, 2 %}',
    '{% for i in (1..data.o) %}{% endfor %}',
  ])('Hostile data gives an error that quotes nothing of it: %s', async (source) => {
    for (const escaping of ['html', 'none'] as const) {
      const rendering = await render(source, data, escaping)
      expect(rendering).toMatchObject({ outcome: 'error', detail: expect.stringMatching(/\(line 1, column \d+\)$/) })
      expect(JSON.stringify(rendering)).not.toMatch(/sk_live|toString|liquidjs|node_modules/)
    }
  })

  test('Hostile data can be compared, counted and sorted', async () => {
    expect(
      await text(
        '{% if data.o > 1 or data.o < data.o or data.o == 1 or data.o contains "x" %}a{% else %}b{% endif %}',
        data,
      ),
    ).toBe('b')
    expect(await text('{{ data.o | plus: 1 }}{{ data.l | sort | size }}{{ data.l | sum }}', data)).toBe('110')
  })
})

describe('the limit of work stops a rendering', () => {
  test.each(['html', 'none'] as const)('A rendering that doubles a text by capture stops, in %s', async (escaping) => {
    const bomb = `{% assign a = "aaaaaaaaaa" %}${'{% capture a %}{{a}}{{a}}{% endcapture %}'.repeat(25)}{{ a | size }}`
    expect(await render(bomb, {}, escaping)).toMatchObject({ outcome: 'error' })
  })

  test('A rendering that captures static text in a loop stops', async () => {
    const part = 'x'.repeat(5000)
    expect(
      await render(`{% capture a %}{% for i in (1..1000) %}${part}{% endfor %}{% endcapture %}{{ a | size }}`),
    ).toEqual(TOO_LONG)
    expect(
      await render(
        `${`{% capture a %}${'x'.repeat(60_000)}{% endcapture %}`}${'{% assign b = a | upcase %}'.repeat(20)}`,
      ),
    ).toEqual(TOO_MUCH)
  })

  test('A rendering that captures unused text in a loop stops', async () => {
    expect(
      await render(`{% for i in (1..20) %}{% capture a %}${'x'.repeat(60_000)}{% endcapture %}{% endfor %}`),
    ).toEqual(TOO_MUCH)
  })

  test('A rendering that reads absent variables in a loop stops', async () => {
    const loop = (name: string) => `{% for i in (1..3200) %}{{ data.${name} | default: 1 }}{% endfor %}`
    expect(await render(loop('a'), { a: 1 })).toMatchObject({ outcome: 'rendered' })
    expect(await render(loop('b'), { a: 1 })).toEqual(TOO_MUCH)
  })

  test('A rendering that doubles by append and concat stops', async () => {
    expect(
      await render(`{% assign a = "aaaaaaaaaa" %}${'{% assign a = a | append: a %}'.repeat(25)}{{ a | size }}`),
    ).toEqual(TOO_MUCH)
    expect(
      await render(`{% assign a = "a,b" | split: "," %}${'{% assign a = a | concat: a %}'.repeat(30)}{{ a | size }}`),
    ).toEqual(TOO_MUCH)
  })

  test('A rendering with long ranges stops', async () => {
    expect(await render('{% for i in (1..1000000000) %}x{% endfor %}')).toEqual(TOO_MUCH)
    expect(await render('{% for i in (1..data.n) %}{% endfor %}', { n: 1e300 })).toEqual(TOO_MUCH)
    expect(await render('{% for i in (1..100000) %}{% endfor %}')).toEqual(TOO_MUCH)
    expect(await render('{% for i in (1..70000) %}{% break %}{% endfor %}')).toEqual(TOO_MUCH)
    expect(await render('{% for i in (1..1000) %}{% endfor %}')).toEqual({ outcome: 'rendered', text: '' })
  })

  test('A rendering with nested loops stops, for any body', async () => {
    const loops = (body: string) => `{% for a in (1..1000) %}{% for b in (1..1000) %}${body}{% endfor %}{% endfor %}`
    for (const body of [
      '',
      '{{ b }}',
      '{% if b %}{% endif %}',
      '{{ data.x.y | default: 1 }}',
      '{{ b | abs | abs }}',
      '{% cycle 1, 2 %}',
    ]) {
      expect(await render(loops(body))).toEqual(TOO_MUCH)
    }
  })

  test('A rendering with too much output stops', async () => {
    expect(await render(`{% for i in (1..1000) %}${'x'.repeat(1000)}{% endfor %}`)).toEqual(TOO_LONG)
    expect(await render('{{ data.s }}', { s: '"'.repeat(100_000) }, 'html')).toEqual(TOO_LONG)
    expect(await text('{{ data.s }}', { s: long })).toBe(long)
  })

  test.each([
    ['replacing', `{{ data.s${' | replace: "a", "aa"'.repeat(30)} }}`, { s: 'a'.repeat(1000) }],
    ['searching', '{{ data.s | replace: data.p, "" }}', search()],
    ['splitting', '{{ data.s | split: data.p | size }}', search()],
    ['containing', '{% if data.s contains data.p %}{% endif %}', search()],
    ['encoding', `{{ data.s${' | url_encode'.repeat(5000)} }}`, { s: '%'.repeat(80_000) }],
    ['changing case', `{{ data.s${' | upcase'.repeat(5000)} }}`, { s: long }],
    ['slicing', '{% for i in (1..10000) %}{{ data.s | slice: -1 }}{% endfor %}', { s: long }],
    [
      'comparing text',
      `{% if ${'data.a == data.b or '.repeat(300)}false %}{% endif %}`,
      { a: `${long}x`, b: `${long}y` },
    ],
    [
      'ordering text',
      `{% if ${'data.a < data.b and '.repeat(300)}false %}{% endif %}`,
      { a: `${long}x`, b: `${long}y` },
    ],
    ['comparing lists', `{% if ${'data.a == data.b and '.repeat(100)}true %}{% endif %}`, { a: list, b: [...list] }],
    [
      'matching cases',
      `{% case data.a %}{% when ${Array(3000).fill('data.b').join(', ')} %}{% endcase %}`,
      { a: [...list, 2], b: [...list, 3] },
    ],
    [
      'finding lists in lists',
      `${doubled}{% if a contains data.o %}{% endif %}`,
      { l: [list], o: [...list.slice(1), 2] },
    ],
    [
      'selecting by lists',
      `${doubled}{{ a | where: "x", data.o | size }}`,
      { l: [{ x: list }], o: [...list.slice(1), 2] },
    ],
    ['sorting one text many times', `${doubled}{{ a | sort | size }}`, { l: [long] }],
    ['sorting a long list', '{{ data.l | sort | size }}', { l: list }],
    ['joining one text many times', `${doubled}{{ a | join }}`, { l: [long] }],
    ['joining one list many times', `${doubled}{{ a | join }}`, { l: [list] }],
    ['putting out one list many times', `${doubled}{{ a }}`, { l: [list] }],
    ['changing one list many times', `${doubled}{{ a | upcase }}`, { l: [long] }],
    ['naming months', '{% for i in (1..900) %}{{ i | date: "%d %B %Y" }}{% endfor %}', {}],
    ['changing zones', '{% for i in (1..900) %}{{ i | date: "%d", "Europe/Vienna" }}{% endfor %}', {}],
    ['padding dates', '{{ "2026-11-21" | date: "%999999999Y" }}', {}],
    ['counting fields', '{% for i in (1..10000) %}{% if data.o.size %}{% endif %}{% endfor %}', { o: fields() }],
    [
      'comparing with empty',
      '{% for i in (1..10000) %}{% if data.o == empty %}{% endif %}{% endfor %}',
      { o: fields() },
    ],
    [
      'listing fields',
      '{% for i in (1..10000) %}{% for k in data.o limit: 1 %}{% endfor %}{% endfor %}',
      { o: fields() },
    ],
  ])('A rendering with too much work stops: %s', async (_, source, data) => {
    expect(await render(source, data)).toEqual(TOO_MUCH)
  })

  test('A rendering stops at overlong date formats, property names and numbers', async () => {
    expect(await render('{{ "2026-11-21" | date: data.f }}', { f: '%A'.repeat(1000) })).toMatchObject({
      outcome: 'error',
      detail: expect.stringContaining('date format'),
    })
    expect(await render('{% for i in (1..900) %}{{ i | date: "%d" }}{% endfor %}')).toMatchObject({
      outcome: 'rendered',
    })
    for (const f of ['%A'.repeat(1000), Array(1000).fill('%A')]) {
      expect(await render('{{ 1 | date: data.f }}', { f })).toMatchObject({
        detail: expect.stringContaining('date format'),
      })
    }
    expect(await render('{{ data.l | map: data.k }}', { l: [{}], k: 'a.'.repeat(1000) })).toMatchObject({
      outcome: 'error',
      detail: expect.stringContaining('property'),
    })
    expect(await text('{{ 1 | plus: data.n }}', { n: '9'.repeat(1000) })).toBe('1')
  })

  test('A rendering of a digest with a thousand lines does not stop', async () => {
    const row =
      '<tr><td>{{ i.name | escape }}</td><td>{{ i.cents | divided_by: 100.0 | round: 2 }}</td>{% if i.note %}<td>{{ i.note }}</td>{% endif %}</tr>'
    const items = Array.from({ length: 1000 }, (_, index) => ({ name: `Item <${index}>`, cents: 1234 }))
    expect(await render(`{% for i in data.items %}${row}{% endfor %}`, { items }, 'html')).toMatchObject({
      outcome: 'rendered',
    })
  })
})

function search(): { s: string; p: string } {
  return { s: `${'a'.repeat(30_000)}c`.repeat(6), p: `${'a'.repeat(30_000)}b${'a'.repeat(30_000)}` }
}

function fields(): Record<string, number> {
  return Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`k${index}`, 1]))
}

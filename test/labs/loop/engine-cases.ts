import { jsonLogic } from '../../../src/engines/json-logic.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { JsonValue } from '../../../src/model/json.ts'
import type { Act, LoopCases } from './loop-case.ts'

/** The most characters in a body of 256 KiB. */
const CHARACTERS = 250_000

type Making<Made> = (share: number) => Made

const numbers: Making<number[]> = (share) => Array.from({ length: (CHARACTERS / 2) * share }, (_, index) => index % 10)
const texts: Making<string[]> = (share) =>
  Array.from({ length: (CHARACTERS / 8) * share }, (_, index) => `t${index % 10_000}`)
const objects: Making<object[]> = (share) =>
  Array.from({ length: (CHARACTERS / 16) * share }, (_, index) => ({ n: index, s: `s${index}` }))
const long: Making<string> = (share) => 'a'.repeat(CHARACTERS * share)
const search: Making<{ s: string; p: string }> = (share) => ({
  s: `${'a'.repeat(30_000 * share)}c`.repeat(6),
  p: `${'a'.repeat(30_000 * share)}b${'a'.repeat(30_000 * share)}`,
})
const fields: Making<object> = (share) => Object.fromEntries(numbers(share / 3).map((_, index) => [`k${index}`, 1]))

function rule(source: JsonValue, data: Making<unknown>): (share: number) => Act {
  return (share) => {
    const condition = jsonLogic().compile(source)
    if (typeof condition !== 'function') throw new Error(condition.fault)
    const facts = { data: data(share), recipient: { id: 'user_42' } }
    return () => condition(facts)
  }
}

const item: JsonValue = { var: '' }
const nestedSome = (depth: number): JsonValue =>
  depth === 0 ? { '==': [item, 99] } : { some: [{ var: depth === 4 ? 'data.l' : '' }, nestedSome(depth - 1)] }
const many = (operator: string, operand: (index: number) => JsonValue, count: number): JsonValue => ({
  [operator]: Array.from({ length: count }, (_, index) => operand(index)),
})

const RULES: LoopCases = {
  'some over numbers': rule({ some: [{ var: 'data.l' }, { '>': [item, 10] }] }, (share) => ({ l: numbers(share) })),
  'all over objects': rule({ all: [{ var: 'data.l' }, { '>=': [{ var: 'n' }, 0] }] }, (share) => ({
    l: objects(share),
  })),
  'some within some': rule(nestedSome(4), (share) => ({
    l: Array(18).fill(Array(18).fill(Array(18).fill(numbers(share / 10_000)))),
  })),
  'every node over a list': rule(
    { some: [{ var: 'data.l' }, many('and', () => ({ '<': [item, 100] }), 60)] },
    (share) => ({ l: numbers(share) }),
  ),
  'arithmetic over a list': rule(
    { some: [{ var: 'data.l' }, { '>': [many('+', () => item, 100), 1e9] }] },
    (share) => ({ l: numbers(share / 100) }),
  ),
  'in a long text': rule(
    many('or', () => ({ in: [{ var: 'data.p' }, { var: 'data.s' }] }), 45),
    search,
  ),
  'in a long list': rule(
    many('or', (index) => ({ in: [`x${index}`, { var: 'data.l' }] }), 45),
    (share) => ({ l: texts(share) }),
  ),
  'comparing long texts': rule(
    many('or', () => ({ '<': [{ var: 'data.b' }, { var: 'data.a' }] }), 45),
    (share) => ({ a: `${long(share)}a`, b: `${long(share)}b` }),
  ),
  'long texts as numbers': rule(
    many('or', () => ({ '>': [{ var: 'data.a' }, 1] }), 45),
    (share) => ({ a: ' '.repeat(CHARACTERS * share) }),
  ),
  'long texts added': rule(
    many('+', () => ({ var: 'data.a' }), 100),
    (share) => ({ a: '1'.repeat(CHARACTERS * share) }),
  ),
  'lists as texts': rule(
    many('or', () => ({ '==': [{ '+': [{ var: 'data.l' }, 1] }, 1] }), 25),
    (share) => ({ l: numbers(share) }),
  ),
  'missing paths': rule(
    many('missing', (index) => `data.${'a.'.repeat(200)}k${index}`, 250),
    () => ({ a: {} }),
  ),
  'a trace of false conditions': rule(
    many('or', () => ({ and: [{ some: [{ var: 'data.l' }, { '>': [item, 10] }] }] }), 25),
    (share) => ({ l: numbers(share / 4) }),
  ),
  'a trace through negations': rule(
    { '!': [{ '!': [{ '!': [{ '!': [{ some: [{ var: 'data.l' }, { '>': [item, 10] }] }] }] }] }] },
    (share) => ({ l: numbers(share) }),
  ),
}

/** Rendered first, because a process's first rendering is slow for any template. */
const HARMLESS =
  '{% for item in data.items %}{{ item.name | upcase }} {% endfor %}{% if data.at %}{{ data.at | date: "%d %B %Y" }}{% endif %}'
const ORDER = { items: [{ name: 'Cup' }, { name: 'Plate' }], at: '2026-11-22T08:00:00Z' }

function rendering(source: string, data: unknown): Act {
  const render = liquid().compile(source, 'html')
  if (typeof render !== 'function') throw new Error(render.fault)
  return () => render({ data, recipient: { id: 'user_42' }, events: [] })
}

function template(source: string, data: Making<unknown>): (share: number) => Act {
  return (share) => {
    rendering(HARMLESS, ORDER)()
    return rendering(source, data(share))
  }
}

const loops = (body: string): string => `{% for a in (1..300) %}{% for b in (1..300) %}${body}{% endfor %}{% endfor %}`
const doubled = `{% assign a = data.l %}${'{% assign a = a | concat: a %}'.repeat(14)}`
const none: Making<object> = () => ({})

const TEMPLATES: LoopCases = {
  'nested loops': template(loops('{{ b }}'), none),
  'nested loops of conditions': template(loops('{% if a == b and data.x %}x{% endif %}'), none),
  'nested loops of filters': template(loops('{{ b | plus: 1 | times: 2 | append: "x" | upcase }}'), none),
  'a loop over data': template('{% for i in data.l %}{{ i }}{% endfor %}', (share) => ({ l: numbers(share) })),
  'a loop over objects': template('{% for i in data.l %}{{ i.n }} {{ i.s | escape }}{% endfor %}', (share) => ({
    l: objects(share),
  })),
  'loops over each item': template(
    '{% for i in data.l %}{% for j in data.l %}{{ j.s }}{% endfor %}{% endfor %}',
    (share) => ({ l: objects(share) }),
  ),
  'absent names': template('{% for i in (1..9000) %}{{ data.b | default: 1 }}{% endfor %}', none),
  'html to be escaped': template('{{ data.s }}', (share) => ({ s: '"'.repeat(CHARACTERS * share) })),
  'a long text through every filter': template(
    '{{ data.s | upcase | downcase | capitalize | strip_html | escape_once | squish | truncatewords: 99999 | size }}',
    (share) => ({ s: '<a '.repeat((CHARACTERS / 3) * share) }),
  ),
  'white space': template(
    '{{ data.s | strip | squish | strip_newlines | truncatewords: 3 | newline_to_br | size }}',
    (share) => ({ s: `x${' \r'.repeat((CHARACTERS / 2) * share)}x` }),
  ),
  'open tags': template('{{ data.s | strip_html | size }}', (share) => ({
    s: '<script<!--<style'.repeat((CHARACTERS / 17) * share),
  })),
  'truncated words': template('{{ data.s | truncatewords: 2 }}', (share) => ({
    s: 'a '.repeat((CHARACTERS / 2) * share),
  })),
  encoding: template('{{ data.s | url_encode | size }}', (share) => ({ s: 'ä'.repeat((CHARACTERS / 4) * share) })),
  splitting: template('{{ data.s | split: "" | reverse | join: "-" | size }}', (share) => ({ s: long(share) })),
  'splitting and sorting': template('{{ data.s | split: "," | sort | uniq | size }}', (share) => ({
    s: texts(share).join(),
  })),
  replacing: template(`{{ data.s${' | replace: "a", "aa"'.repeat(30)} }}`, (share) => ({ s: long(share / 100) })),
  'searching a near match': template('{{ data.s | replace: data.p, "" }}', search),
  'containing a near match': template(`{% if ${'data.s contains data.p or '.repeat(200)}false %}{% endif %}`, search),
  sorting: template('{{ data.l | sort: "s" | map: "s" | join | size }}', (share) => ({ l: objects(share) })),
  'unique values': template('{{ data.l | uniq | size }}', (share) => ({ l: texts(share) })),
  'unique lists': template('{{ data.l | uniq | size }}', (share) => ({
    l: Array.from({ length: 60_000 * share }, () => []),
  })),
  'adding up': template('{{ data.l | sum: "n" }}', (share) => ({ l: objects(share) })),
  selecting: template('{{ data.l | where: "s", "s3" | size }}', (share) => ({ l: objects(share) })),
  'comparing long texts': template(`{% if ${'data.a == data.b or '.repeat(300)}false %}{% endif %}`, (share) => ({
    a: `${long(share)}x`,
    b: `${long(share)}y`,
  })),
  'ordering long texts': template(`{% if ${'data.a < data.b and '.repeat(300)}false %}{% endif %}`, (share) => ({
    a: `${long(share)}x`,
    b: `${long(share)}y`,
  })),
  'comparing lists': template(`{% if ${'data.a == data.b and '.repeat(100)}true %}{% endif %}`, (share) => ({
    a: numbers(share),
    b: numbers(share),
  })),
  'matching cases': template(
    `{% case data.a %}{% when ${Array(3000).fill('data.b').join(', ')} %}{% endcase %}`,
    (share) => ({ a: numbers(share), b: [...numbers(share), 1] }),
  ),
  'one list many times': template(`${doubled}{{ a | join }}`, (share) => ({ l: [numbers(share)] })),
  'one text many times': template(`${doubled}{{ a | sort | size }}`, (share) => ({ l: [long(share)] })),
  'counting fields': template('{% for i in (1..9000) %}{% if data.o.size %}{% endif %}{% endfor %}', (share) => ({
    o: fields(share),
  })),
  'listing fields': template(
    '{% for i in (1..9000) %}{% for k in data.o limit: 1 %}{% endfor %}{% endfor %}',
    (share) => ({ o: fields(share) }),
  ),
  'names of months': template('{% for i in (1..900) %}{{ i | date: "%d %B %Y" }}{% endfor %}', none),
  'time zones': template('{% for i in (1..900) %}{{ i | date: "%d", "Europe/Vienna" }}{% endfor %}', none),
  dates: template('{% for i in data.l %}{{ i | date: "%Y-%m-%d" }}{% endfor %}', (share) => ({
    l: numbers(share).map(String),
  })),
  captures: template(`{% for i in (1..20) %}{% capture a %}${'x'.repeat(60_000)}{% endcapture %}{% endfor %}`, none),
  'lists within lists': template('{{ data.l | join | size }}', (share) => ({ l: nested(2_000 * share) })),
}

function nested(depth: number): unknown {
  let value: unknown = [1]
  for (let level = 0; level < Math.min(depth, 30); level++) value = [value, value]
  return value
}

export const ENGINE_CASES: LoopCases = {
  'a first rendering: of a harmless template': () => rendering(HARMLESS, ORDER),
  ...Object.fromEntries(Object.entries(RULES).map(([name, made]) => [`rule: ${name}`, made])),
  ...Object.fromEntries(Object.entries(TEMPLATES).map(([name, made]) => [`template: ${name}`, made])),
}

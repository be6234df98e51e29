import { describe, expect, it } from 'vitest'
import { jsonLogic } from '../../src/engines/json-logic.ts'
import { liquid } from '../../src/engines/liquid.ts'
import type { JsonValue } from '../../src/model/json.ts'

function ofTemplate(source: string): readonly string[] {
  const template = liquid().compile(source, 'html')
  if (typeof template !== 'function') throw new Error(template.fault)
  return (template.reads ?? []).map(({ path, line, column }) => `${line}:${column} ${path.join('/')}`)
}

function ofRule(rule: JsonValue): readonly string[] {
  const condition = jsonLogic().compile(rule)
  if (typeof condition !== 'function') throw new Error(condition.fault)
  return (condition.reads ?? []).map(({ path, pointer }) => `${pointer} ${path.join('/')}`)
}

describe('reads of a Liquid template', () => {
  it.each([
    ['{{ data.a.b }}\n  {{ recipient.id }}', '1:4 data/a/b', '2:6 recipient/id'],
    ['{{ data["a b"][0][-1].c }}', '1:4 data/a b/0/-1/c'],
    ['{{ data.a[data.b].c }}', '1:11 data/b', '1:4 data/a'],
    ['{{ data.a.size.b }}', '1:4 data/a'],
    ['{{ data.a | default: data.b, allow_false: data.c }}', '1:4 data/a', '1:22 data/b', '1:43 data/c'],
    [
      '{% if data.a == data.b or data.c %}{% elsif data.d %}{% endif %}',
      '1:7 data/a',
      '1:17 data/b',
      '1:27 data/c',
      '1:45 data/d',
    ],
    ['{% for i in (1..data.n) limit: data.m %}{{ i.x }}{% endfor %}', '1:17 data/n', '1:32 data/m'],
    [
      '{% for x in data.xs %}{{ x.a }}{% else %}{{ data.b }}{% endfor %}',
      '1:13 data/xs',
      '1:26 data/xs/0/a',
      '1:45 data/b',
    ],
    ['{% for forloop in data.xs %}{{ forloop.index }}{% endfor %}', '1:19 data/xs'],
    [
      '{{ data.xs | where: "a", data.b | map: "c.d" }}',
      '1:4 data/xs',
      '1:26 data/b',
      '1:21 data/xs/0/a',
      '1:40 data/xs/0/c/d',
    ],
    ['{{ data.xs | default: data.ys | map: "c" }}', '1:4 data/xs', '1:23 data/ys'],
    ['{% assign x = data.xs | sort: "a" | first %}{{ x.b }}', '1:15 data/xs', '1:31 data/xs/0/a', '1:48 data/xs/0/b'],
    ['{% if data.i %}{% assign x = data.y %}{% endif %}{{ x.b }}', ...['1:7 data/i', '1:30 data/y', '1:53 data/y/b']],
    ['{% assign x = data.y %}{% assign x = data.z %}{{ x.b }}', '1:15 data/y', '1:38 data/z'],
    ['{{ data.a }}{% assign data = data.b %}{{ data.c }}'],
    ['{% capture data %}{{ recipient.id }}{% endcapture %}{{ data.c }}', '1:22 recipient/id'],
    ['{% cycle data.g: data.x, "y" %}', '1:18 data/x', '1:10 data/g'],
    ['{% comment %}{{ data.a }}{% endcomment %}{% raw %}{{ data.b }}{% endraw %}text'],
  ])('%s', (source, ...reads) => {
    expect(ofTemplate(source)).toEqual(reads)
  })
})

describe('reads of a JSON Logic rule', () => {
  it.each<[JsonValue, ...string[]]>([
    [true],
    [{ '==': [{ var: 'data.a\\.b.0' }, 1] }, '/==/0/var data/a.b/0'],
    [{ '!!': { var: ['recipient.id', null] } }, '/!!/var/0 recipient/id'],
    [{ '!': { missing: ['data.a', 'data.b'] } }, '/!/missing/0 data/a', '/!/missing/1 data/b'],
    [{ '!': { missing_some: [1, ['data.a']] } }, '/!/missing_some/1/0 data/a'],
    [
      { all: [{ var: 'data.xs' }, { some: [{ var: 'ys' }, { '==': [{ var: '' }, { var: 'z' }] }] }] },
      ...['/all/0/var data/xs', '/all/1/some/0/var data/xs/0/ys', '/all/1/some/1/==/1/var data/xs/0/ys/0/z'],
    ],
    [
      { some: [{ var: 'data.xs' }, { none: [{ var: '' }, { var: 'a' }] }] },
      ...['/some/0/var data/xs', '/some/1/none/1/var data/xs/0/0/a'],
    ],
  ])('%j', (rule, ...reads) => {
    expect(ofRule(rule)).toEqual(reads)
  })
})

import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { z as classic } from 'zod/v3'
import { jsonLogic } from '../../../../src/engines/json-logic.ts'
import { liquid } from '../../../../src/engines/liquid.ts'
import { problems } from './catalog-problems.ts'

const engines = { templates: liquid(), conditions: jsonLogic() }

/** Details of the problems of one template. */
function inTemplate(data: unknown, text: string): readonly string[] {
  return problems({ e: { data, channels: { a: { text } } } }, engines).map(({ detail }) => detail)
}

function inRule(data: unknown, when: unknown): readonly string[] {
  return problems({ e: { data, when, channels: { a: {} } } }, engines).map(({ detail }) => detail)
}

function lacks(path: string, hint = ''): string {
  return `reads ${path}, which the schema of data does not have${hint}`
}

/** The same data in each library. */
const SCHEMAS: Readonly<Record<string, unknown>> = {
  valibot: v.object({
    id: v.pipe(v.string(), v.nonEmpty()),
    total: v.number(),
    nick: v.optional(v.string()),
    customer: v.nullable(v.object({ name: v.string(), 'post code': v.string() })),
    lines: v.array(v.object({ name: v.string(), tags: v.array(v.string()) })),
    choice: v.variant('kind', [
      v.object({ kind: v.literal('a'), one: v.string() }),
      v.object({ kind: v.literal('b'), two: v.string() }),
    ]),
    made: v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    ),
    labels: v.record(v.string(), v.string()),
    any: v.unknown(),
  }),
  zod: z.object({
    id: z.string().min(1),
    total: z.number(),
    nick: z.string().optional(),
    customer: z.object({ name: z.string(), 'post code': z.string() }).nullable(),
    lines: z.array(z.object({ name: z.string(), tags: z.array(z.string()) })),
    choice: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), one: z.string() }),
      z.object({ kind: z.literal('b'), two: z.string() }),
    ]),
    made: z.string().transform((text) => new Date(text)),
    labels: z.record(z.string(), z.string()),
    any: z.unknown(),
  }),
  arktype: type({
    id: 'string > 0',
    total: 'number',
    'nick?': 'string',
    customer: type({ name: 'string', 'post code': 'string' }).or('null'),
    lines: type({ name: 'string', tags: 'string[]' }).array(),
    choice: type({ kind: "'a'", one: 'string' }).or({ kind: "'b'", two: 'string' }),
    made: 'string.date.parse',
    labels: 'Record<string, string>',
    any: 'unknown',
  }),
}

const TEMPLATES: readonly (readonly [text: string, ...found: string[]])[] = [
  ['{{ data.idd }}', lacks('data.idd', '; near: id')],
  ['{{ data["idd"] }}{{ data.nikc }}', lacks('data.idd', '; near: id'), lacks('data.nikc', '; near: nick')],
  ['{{ data.unheard | default: "x" }}', lacks('data.unheard')],
  ['{% if data.nikc == "x" and data.total > 1 %}{% endif %}', lacks('data.nikc', '; near: nick')],
  [
    '{% case data.idd %}{% when "x" %}{{ data.totl }}{% endcase %}',
    lacks('data.idd', '; near: id'),
    lacks('data.totl', '; near: total'),
  ],
  ['{{ data.id | append: data.totl }}', lacks('data.totl', '; near: total')],
  ['{{ data.customer.nmae }}', lacks('data.customer.nmae', '; near: name')],
  ['{{ data.custmer.name }}', lacks('data.custmer', '; near: customer')],
  ['{{ data.total.amount }}', lacks('data.total.amount')],
  ['{% for line in data.lines %}{{ line.nmae }}{% endfor %}', lacks('data.lines[].nmae', '; near: name')],
  [
    '{% for line in data.lines %}{% for tag in line.tgas %}{% endfor %}{% endfor %}',
    lacks('data.lines[].tgas', '; near: tags'),
  ],
  [
    '{{ data.lines[0].nmae }}{{ data.lines.first.nmae }}',
    lacks('data.lines[].nmae', '; near: name'),
    lacks('data.lines.first.nmae', '; near: name'),
  ],
  ['{{ data.lines.name }}', lacks('data.lines.name', '; data.lines is a list')],
  ['{{ data.lines | map: "nmae" | join: ", " }}', lacks('data.lines[].nmae', '; near: name')],
  ['{% assign who = data.customer %}{{ who.nmae }}', lacks('data.customer.nmae', '; near: name')],
  [
    '{{ events[0].idd }}{{ events.last.idd }}',
    lacks('events[].idd', '; near: id'),
    lacks('events.last.idd', '; near: id'),
  ],
  ['{% for event in events %}{{ event.idd }}{% endfor %}', lacks('events[].idd', '; near: id')],
  ['{{ data.choice.three }}', lacks('data.choice.three')],
  ['{{ data[data.idd] }}', lacks('data.idd', '; near: id')],
]

const FINE: readonly string[] = [
  '{{ data.id }} {{ data.total }} {{ data.nick | default: "x" }} {% if data.nick %}{% endif %} {{ data.id.size }}',
  '{{ data.customer.name }} {{ data.customer["post code"] }} {{ data.customer.size }}',
  '{% for line in data.lines %}{{ line.name }} {{ line.tags | join: ", " }} {{ forloop.index }}{% endfor %}',
  '{{ data.lines.size }} {{ data.lines.first.name }} {{ data.lines[-1].name }} {{ data.lines.last.tags[0] }}',
  '{{ data.lines | where: "name", "x" | map: "tags" | first }} {{ data.lines | sort: "name" | size }}',
  '{{ data.choice.kind }} {{ data.choice.one | default: "" }} {{ data.choice.two | default: "" }}',
  '{{ data.labels.anything }} {{ data.any.whatever.else }} {{ data.made.year }} {{ data.lines[data.total].anything }}',
  '{{ events.size }} {% for event in events reversed %}{{ event.id }}{% for line in event.lines %}{{ line.name }}{% endfor %}{% endfor %}',
  '{% for pair in data.customer %}{{ pair[0] }}: {{ pair[1] }}{% endfor %} {% for pair in data.labels %}{{ pair.first }}{% endfor %}',
  '{% assign data = data.customer %}{{ data.name }} {{ data.unheard }}',
  '{% assign who = data.id %}{% assign who = data.customer %}{{ who.unheard }}',
  '{% capture who %}{{ data.id }}{% endcapture %}{{ who.unheard | default: "" }}',
  '{% for line in data.lines %}{% for line in line.tags %}{{ line }}{% else %}{{ line.name }}{% endfor %}{% endfor %}',
  '{% for data in events %}{{ data.id }}{% endfor %} {{ recipient.id }} {{ recipient.attributes.anything | default: "" }}{{ recipient.addresses.chat }}',
]

const RULES: readonly (readonly [when: unknown, ...found: string[]])[] = [
  [{ '>=': [{ var: 'data.totl' }, 1] }, lacks('data.totl', '; near: total')],
  [{ '==': [{ var: ['data.nikc', null] }, null] }, lacks('data.nikc', '; near: nick')],
  [{ '!': { missing: ['data.idd', 'data.nick'] } }, lacks('data.idd', '; near: id')],
  [{ '!': { missing_some: [1, ['data.nick', 'data.totl']] } }, lacks('data.totl', '; near: total')],
  [{ some: [{ var: 'data.lines' }, { '==': [{ var: 'nmae' }, 'x'] }] }, lacks('data.lines[].nmae', '; near: name')],
  [
    { some: [{ var: 'data.lines' }, { none: [{ var: 'tgas' }, { '==': [{ var: '' }, 'x'] }] }] },
    lacks('data.lines[].tgas', '; near: tags'),
  ],
  [{ '==': [{ var: 'data.lines.0.nmae' }, 'x'] }, lacks('data.lines.0.nmae', '; near: name')],
  [{ '>': [{ var: 'data.lines.length' }, 0] }],
  [{ some: [{ var: 'data.lines' }, { in: ['x', { var: 'tags' }] }] }],
  [{ '==': [{ var: 'data.labels.a\\.b' }, { var: 'recipient.attributes.x' }] }],
  [{ '==': [{ var: 'data.any.x' }, { var: 'data.made.y' }] }],
]

describe.each(Object.keys(SCHEMAS))('names of a schema of %s', (library) => {
  const data = SCHEMAS[library]

  it.each(TEMPLATES)('A template with an unknown name stops the start: %s', (text, ...found) => {
    expect(inTemplate(data, text)).toEqual(found)
  })

  it.each(FINE)('A template with known names starts: %s', (text) => {
    expect(inTemplate(data, text)).toEqual([])
  })

  it.each(RULES)('A rule is checked: %j', (when, ...found) => {
    expect(inRule(data, when)).toEqual(found)
  })
})

describe('problems of unknown names', () => {
  const { valibot: data } = SCHEMAS

  it('All problems of all events come at once, with their places', () => {
    const channels = {
      mail: { subject: 'Order\n {{ data.idd }}', locales: { de: { subject: '{{ data.iid }}' } } },
      text: { when: { and: [true, { '==': [{ var: 'data.nikc' }, 'x'] }] }, text: 'x' },
    }
    const other = { data, when: { '!!': { var: 'data.totl' } }, channels: { text: { text: 'x' } } }
    expect(problems({ one: { data, channels }, two: other }, engines)).toEqual([
      { event: 'one', channel: 'mail', field: 'subject', line: 2, column: 5, detail: lacks('data.idd', '; near: id') },
      {
        event: 'one',
        channel: 'mail',
        field: 'locales.de.subject',
        line: 1,
        column: 4,
        detail: lacks('data.iid', '; near: id'),
      },
      {
        event: 'one',
        channel: 'text',
        field: 'when',
        pointer: '/and/1/==/0/var',
        detail: lacks('data.nikc', '; near: nick'),
      },
      { event: 'two', field: 'when', pointer: '/!!/var', detail: lacks('data.totl', '; near: total') },
    ])
  })

  it('An engine without reads, or an event without a schema, has no checked names', () => {
    const compile = () => () => ({ outcome: 'rendered', text: '' }) as const
    const definition = { e: { data, channels: { a: { text: '{{ data.idd }}' } } } }
    expect(problems(definition, { templates: { compile } })).toEqual([])
    expect(inTemplate(undefined, '{{ data.idd }}')).toEqual([])
  })

  it('Reads that are no list stop the start', () => {
    const compile = () => Object.assign(() => ({ outcome: 'rendered', text: '' }) as const, { reads: 'data.id' })
    const definition = { e: { data, channels: { a: { text: 'x' } } } }
    expect(problems(definition, { templates: { compile } as never }).map(({ detail }) => detail)).toEqual([
      'the engine gave "reads" that are no list of { path } with a list of names',
    ])
  })
})

interface Tree {
  readonly label: string
  readonly next?: Tree | undefined
}

const valibotTree: v.GenericSchema<Tree> = v.object({ label: v.string(), next: v.optional(v.lazy(() => valibotTree)) })
const zodTree = z.object({
  label: z.string(),
  get next() {
    return z.optional(zodTree)
  },
})
const arktypeTree = type.module({ tree: { label: 'string', 'next?': 'tree' } }).tree

describe('schemas', () => {
  it.each([
    ['valibot', valibotTree],
    ['zod', zodTree],
    ['arktype', arktypeTree],
  ])('A recursive schema of %s is checked at any depth', (_, data) => {
    expect(inTemplate(data, '{{ data.next.next.next.label }}')).toEqual([])
    expect(inTemplate(data, '{{ data.next.next.lable }}')).toEqual([lacks('data.next.next.lable', '; near: label')])
  })

  it.each([
    ['valibot, loose', v.looseObject({ id: v.string() })],
    ['valibot, with rest', v.objectWithRest({ id: v.string() }, v.string())],
    ['valibot, record', v.record(v.string(), v.string())],
    [
      'valibot, transformed',
      v.pipe(
        v.object({ id: v.string() }),
        v.transform(({ id }) => ({ idd: id })),
      ),
    ],
    [
      'valibot, transformed and piped',
      v.pipe(
        v.pipe(
          v.object({ id: v.string() }),
          v.transform(({ id }) => ({ idd: id })),
        ),
        v.check(() => true),
      ),
    ],
    [
      'valibot, lazy by value',
      v.lazy((input) => (input === 1 ? v.object({ id: v.string() }) : v.object({ idd: v.string() }))),
    ],
    [
      'valibot, lazy that throws',
      v.lazy(() => {
        throw new Error('not now')
      }),
    ],
    ['valibot, custom', v.custom<{ idd: string }>(() => true)],
    ['valibot, an open member of a union', v.union([v.object({ id: v.string() }), v.looseObject({ a: v.string() })])],
    [
      'valibot, an open part of an intersection',
      v.intersect([v.object({ id: v.string() }), v.record(v.string(), v.string())]),
    ],
    ['zod, loose', z.looseObject({ id: z.string() })],
    ['zod, catchall', z.object({ id: z.string() }).catchall(z.string())],
    ['zod, record', z.record(z.string(), z.string())],
    ['zod, transformed', z.object({ id: z.string() }).transform(({ id }) => ({ idd: id }))],
    [
      'zod, an intersection with a loose object',
      z.intersection(z.object({ id: z.string() }), z.looseObject({ a: z.string() })),
    ],
    ['zod 3', classic.object({ id: classic.string() })],
    ['arktype, index signature', type({ id: 'string', '[string]': 'unknown' })],
    ['arktype, keys by a pattern', type({ id: 'string', '[/^id/]': 'string' })],
    ['arktype, keys by a length', type({ id: 'string', '[string > 2]': 'string' })],
    ['arktype, morph', type({ id: 'string' }).pipe(({ id }) => ({ idd: id }))],
    ['arktype, any object', type('object')],
    [
      'a schema without names',
      { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } },
    ],
    ['a schema with an open object', standard({ type: 'object', properties: { id: {} } })],
    ['a schema of another document', standard({ $ref: 'https://schemas.example/order' })],
    ['a schema that refers to itself', standard({ anyOf: [{ $ref: '#' }, { $ref: '#/$defs/none' }] })],
  ])('Nothing is checked below an open schema: %s', (_, data) => {
    expect(inTemplate(data, '{{ data.idd }}')).toEqual([])
  })

  it.each([
    ['valibot, strict', v.strictObject({ id: v.string() })],
    [
      'valibot, asynchronous',
      v.pipeAsync(
        v.objectAsync({ id: v.string() }),
        v.checkAsync(async () => true),
      ),
    ],
    [
      'valibot, checked and branded',
      v.pipe(
        v.object({ id: v.string() }),
        v.check(() => true),
        v.brand('Order'),
        v.readonly(),
      ),
    ],
    [
      'valibot, transformed into an object',
      v.pipe(
        v.string(),
        v.transform((id) => ({ id })),
        v.object({ id: v.string() }),
      ),
    ],
    ['valibot, intersection', v.intersect([v.object({ id: v.string() }), v.object({ a: v.string() })])],
    ['zod, strict', z.strictObject({ id: z.string() })],
    [
      'zod, transformed into an object',
      z
        .string()
        .transform((id) => ({ id }))
        .pipe(z.object({ id: z.string() })),
    ],
    [
      'zod, refined',
      z
        .object({ id: z.string() })
        .refine(() => true)
        .readonly(),
    ],
    ['zod, intersection', z.intersection(z.object({ id: z.string() }), z.object({ a: z.string() }))],
    ['zod, with a name', z.object({ id: z.string() }).meta({ id: 'Order' })],
    ['arktype, undeclared keys kept', type({ id: 'string', '+': 'ignore' })],
    ['arktype, undeclared keys deleted', type({ id: 'string', '+': 'delete' })],
    ['arktype, morph into an object', type({ id: 'string' }).pipe((order) => order, type({ id: 'string' }))],
    [
      'a schema with a closed object',
      standard({ type: ['object', 'null'], properties: { id: {} }, additionalProperties: false }),
    ],
  ])('Names are checked below a closed schema: %s', (_, data) => {
    expect(inTemplate(data, '{{ data.id }}{{ data.idd }}')).toEqual([lacks('data.idd', '; near: id')])
  })
})

function standard(document: object): unknown {
  const jsonSchema = { output: () => document }
  return { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }), jsonSchema } }
}

describe('names of a recipient', () => {
  const MEMBERS = 'its members are id, email, phone, url, addresses, locale, timeZone, attributes'

  it.each([
    [
      '{{ recipient.name }}',
      `reads recipient.name, which no recipient has: ${MEMBERS}; for data of your own, write recipient.attributes.name`,
    ],
    [
      '{{ recipient.emial }}',
      `reads recipient.emial, which no recipient has: ${MEMBERS}; near: email; for data of your own, write recipient.attributes.emial`,
    ],
    ['{{ recipient.email.domain }}', 'reads recipient.email.domain, but recipient.email is a text'],
  ])('A template that reads an unknown one stops the start: %s', (text, detail) => {
    expect(inTemplate(undefined, text)).toEqual([detail])
    expect(inTemplate(SCHEMAS.zod, text)).toEqual([detail])
  })

  it('A rule that reads an unknown one stops the start', () => {
    expect(inRule(undefined, { '==': [{ var: 'recipient.vip' }, true] })).toEqual([
      `reads recipient.vip, which no recipient has: ${MEMBERS}; near: id; for data of your own, write recipient.attributes.vip`,
    ])
  })
})

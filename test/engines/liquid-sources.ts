import { fc } from '../support/properties.ts'

/** Facts with every kind of value that JSON has. */
export const FACTS: { readonly data: object; readonly recipient: object } = {
  data: {
    text: ' <b>"Ünder" & Söhne</b>\nTel. ',
    empty: '',
    blank: ' \n',
    zero: 0,
    price: 12.5,
    big: 123456789,
    yes: true,
    no: false,
    nothing: null,
    date: '2026-03-29T01:30:00Z',
    list: ['a', '<', 3, null, true, 'a'],
    none: [],
    items: [
      { name: 'Lamp <A>', price: 3, size: 'L', tags: ['x', 'y'] },
      { name: 'chair', price: 20.25, tags: [] },
      { name: null, price: '7' },
    ],
    map: { first: 1, 'a-b': 'dash', key: 'name' },
    key: 'name',
    index: 1,
  },
  recipient: { id: 'u_1', name: 'Ada' },
}

const PATHS = [
  ...['text', 'empty', 'blank', 'zero', 'price', 'big', 'yes', 'no', 'nothing', 'date', 'list', 'none', 'items', 'map'],
  ...[
    'gone',
    'text.size',
    'list.size',
    'list.first',
    'list.last',
    'list[0]',
    'list[-1]',
    'list[9]',
    'items.first.name',
  ],
  ...['items[1].price', 'items[data.index].name', 'items[0][data.key]', 'map.first', 'map["a-b"]', 'map.gone.deeper'],
  ...['map.size', 'nothing.deeper', 'text.deeper', 'items[data.gone].name', 'gone[data.key]', 'list.length'],
].map((path) => `data.${path}`)
const VARIABLES = ['one', 'two', 'one.name', 'two.price', 'kept', 'kept.size', 'made', 'recipient.name', 'data']
const FORLOOP = ['index', 'index0', 'rindex', 'rindex0', 'first', 'last', 'length'].map((field) => `forloop.${field}`)
const LITERALS = ['1', '-2', '2.5', '3.0', '0', "'a'", '"<b>"', "''", 'true', 'false', 'nil', 'empty', 'blank']
const FILTERS = [
  ...['append', 'prepend', 'remove', 'remove_first', 'split', 'plus', 'minus', 'times', 'divided_by', 'modulo'],
  ...['at_least', 'at_most', 'concat', 'default', 'join', 'map', 'where', 'slice', 'sort', 'sum', 'date', 'truncate'],
]
const PLAIN_FILTERS = [
  ...['capitalize', 'downcase', 'upcase', 'strip', 'lstrip', 'rstrip', 'strip_newlines', 'squish', 'strip_html'],
  ...['url_encode', 'escape', 'escape_once', 'newline_to_br', 'safe_url', 'abs', 'ceil', 'floor', 'round', 'compact'],
  ...['first', 'last', 'reverse', 'size', 'uniq', 'sort', 'sum', 'join', 'date', 'truncatewords'],
]
const OPERATORS = ['==', '!=', '<', '<=', '>', '>=', 'contains']

const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 3, arbitrary: fc.constantFrom(...VARIABLES) },
  { weight: 3, arbitrary: fc.constantFrom(...LITERALS) },
)
const filter = fc.oneof(
  fc.constantFrom(...PLAIN_FILTERS).map((name) => ` | ${name}`),
  fc.tuple(fc.constantFrom(...FILTERS), value).map(([name, argument]) => ` | ${name}: ${argument}`),
  fc
    .tuple(fc.constantFrom('replace', 'where', 'slice', 'date', 'truncate'), value, value)
    .map(([name, one, other]) => ` | ${name}: ${one}, ${other}`),
  fc.constantFrom(' | default: "none", allow_false: true', ' | map: "price"', ' | where: "name"', " | date: '%B %-d'"),
)
const filtered = fc.tuple(value, fc.array(filter, { maxLength: 2 })).map(([one, filters]) => one + filters.join(''))
const comparison = fc
  .tuple(value, fc.constantFrom(...OPERATORS), value)
  .map(([left, operator, right]) => `${left} ${operator} ${right}`)
const condition = fc.oneof(
  value,
  comparison,
  fc.tuple(comparison, fc.constantFrom('and', 'or'), value).map((parts) => parts.join(' ')),
  value.map((one) => `not ${one}`),
)
const modifiers = fc
  .subarray(['limit: 2', 'offset: 1', 'reversed', 'limit: data.index', 'offset: data.gone'], { maxLength: 2 })
  .map((given) => given.map((one) => ` ${one}`).join(''))
const collection = fc.oneof(
  fc.constantFrom('data.items', 'data.list', 'data.none', 'data.text', 'data.map', 'data.nothing', 'one.tags', 'made'),
  fc.constantFrom('(1..3)', '(0..data.index)', '(3..1)', '(1..data.text)', '(-1..data.price)'),
)

const inLoop = fc.oneof(
  fc.constantFrom(...FORLOOP).map((one) => `{{ ${one} | plus: 1 }}`),
  fc
    .tuple(fc.constantFrom(...FORLOOP), value)
    .map(([one, other]) => `{% if ${one} == ${other} %}{{ ${one} }}{% endif %}`),
)

const { block } = fc.letrec<{ part: string; block: string }>((tie) => ({
  block: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
  part: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(
      'plain <i> ',
      ' \n',
      '{% raw %}{{ x }}{% endraw %}',
      '{% comment %}a{% endcomment %}',
      '{%- # a -%}',
    ),
    { weight: 4, arbitrary: filtered.map((one) => `{{ ${one} }}`) },
    filtered.map((one) => `{{- ${one} -}}`),
    fc.constantFrom('{% break %}', '{% continue %}', '{% cycle "a", "b" %}'),
    filtered.map((one) => `{% assign made = ${one} %}`),
    fc
      .tuple(fc.constantFrom('if', 'unless'), condition, tie('block'), condition, tie('block'), tie('block'))
      .map(
        ([tag, one, a, other, b, c]) => `{% ${tag} ${one} %}${a}{% elsif ${other} %}${b}{% else %}${c}{% end${tag} %}`,
      ),
    fc
      .tuple(fc.constantFrom('one', 'two', 'made'), collection, modifiers, tie('block'), inLoop, tie('block'))
      .map(([name, list, given, a, b, c]) => `{% for ${name} in ${list}${given} %}${a}${b}{% else %}${c}{% endfor %}`),
    tie('block').map((inner) => `{% capture kept %}${inner}{% endcapture %}`),
    fc
      .tuple(filtered, value, value, tie('block'), value, tie('block'), tie('block'))
      .map(
        ([one, a, b, first, c, second, other]) =>
          `{% case ${one} %}{% when ${a}, ${b} %}${first}{% when ${c} %}${second}{% else %}${other}{% endcase %}`,
      ),
  ),
}))

/** Sources of templates, with names that they use assigned first. Some do not compile. */
export const SOURCES: fc.Arbitrary<string> = block.map(
  (body) =>
    `{% assign one = data.items[0] %}{% assign two = data.items[1] %}{% assign made = data.list %}{% capture kept %}<k>{% endcapture %}${body}`,
)

import ts from 'typescript'
import { builtAs, ENTRIES, type FeedbackRow } from './entries.ts'
import { PLUGIN_FILES } from './plugin-files.ts'
import { publicNamesText } from './public-names.ts'

const ALL = Object.entries(ENTRIES)
const SOURCES = ALL.map(([, { source }]) => source)

/** The files that `npm run entries` writes, in this order, and what becomes of the text of each. All other text stays. */
export const ENTRY_FILES: Readonly<Record<string, (text: string) => string>> = {
  ...PLUGIN_FILES,
  'package.json': (text) => withMember(withMember(text, ['exports'], exportsOfPackage()), ['size-limit'], budgets()),
  'tsconfig.json': (text) => singlesInLine(withMember(text, ['compilerOptions', 'paths'], paths())),
  'docs/typedoc.json': (text) =>
    withMember(
      text,
      ['entryPoints'],
      SOURCES.map((source) => `../${source}`),
    ),
  '.knip.json': (text) => withMember(text, ['entry'], [...SOURCES, ...otherRoots(text)]),
  'docs/README.md': (text) => withTable(text, '| import | gives |', importRows()),
  'docs/feedback.md': (text) =>
    withTable(text, '| provider | entry | proof | covers the body | delivery id in |', feedbackRows()),
  'test/package/public-names.txt': publicNamesText,
}

function exportsOfPackage(): object {
  const targets = ALL.map(([name, { peer }]) => {
    const file = `./dist/${builtAs(name)}`
    const forNode = peer && { module: `${file}.js`, node: `${file}.node.js` }
    return [name.replace('sallyport', '.'), { types: `${file}.d.ts`, ...forNode, default: `${file}.js` }]
  })
  return { ...Object.fromEntries(targets), './package.json': './package.json' }
}

function budgets(): readonly object[] {
  return ALL.flatMap(([name, { limit, parts = {} }]) => {
    const budget = (title: string, names: string, kB: number): object => {
      const path = `dist/${builtAs(name)}.js`
      return { name: title, path, import: names, ignore: ['node:*'], gzip: true, limit: `${kB} kB` }
    }
    const ofParts = Object.entries(parts).map(([names, kB]) => budget(`import ${names} from '${name}'`, names, kB))
    return [budget(name, '*', limit), ...ofParts]
  })
}

function paths(): object {
  return Object.fromEntries(ALL.map(([name, { source }]) => [name, [`./${source}`]]))
}

/** The roots in the text of `.knip.json` that are not entries. */
function otherRoots(text: string): readonly string[] {
  const { entry }: { readonly entry: readonly string[] } = JSON.parse(text)
  return entry.filter((root) => !root.startsWith('src/'))
}

/** `sallyport/feedback/{ses,resend}` stands for two entries of a folder that give the same. */
function importRows(): readonly string[] {
  const names = new Map<string, string[]>()
  for (const [name, { gives }] of ALL) {
    const folder = name.replace(/[^/]+$/, '')
    const key = `${folder} | ${gives}`
    names.set(key, [...(names.get(key) ?? []), name.slice(folder.length)])
  }
  return [...names].map(([key, ends]) => {
    const [folder, gives] = key.split(' | ')
    return `| \`${folder}${ends.length > 1 ? `{${ends.join()}}` : ends}\` | ${gives} |`
  })
}

function feedbackRows(): readonly string[] {
  return ALL.flatMap(([name, { feedback }]) => (feedback ? [feedbackRow(name, feedback)] : []))
}

/** The provider links to its section of the same page. */
function feedbackRow(name: string, { provider, proof, coversBody, deliveryIdIn }: FeedbackRow): string {
  const link = `[${provider}](#${provider.toLowerCase().replaceAll(' ', '-')})`
  return `| ${link} | \`${name}\` | ${proof} | ${coversBody ? 'yes' : 'no'} | ${deliveryIdIn} |`
}

/** Replaces a member of an object in a text of JSON. */
function withMember(text: string, [name = '', ...rest]: readonly string[], value: unknown): string {
  const source = ts.parseJsonText('file.json', text)
  const [{ expression }] = source.statements as unknown as readonly [ts.JsonObjectExpressionStatement]
  const found = memberOf(expression, [name, ...rest])
  const lines = JSON.stringify(value, null, 2).replaceAll('\n', `\n${'  '.repeat(1 + rest.length)}`)
  return text.slice(0, found.getStart(source)) + lines + text.slice(found.end)
}

function memberOf(node: ts.Expression, [name, ...rest]: readonly string[]): ts.Expression {
  if (name === undefined) return node
  const members = ts.isObjectLiteralExpression(node) ? node.properties.filter(ts.isPropertyAssignment) : []
  const found = members.find((member) => ts.isStringLiteral(member.name) && member.name.text === name)
  if (!found) throw new Error(`there is no member ${name}`)
  return memberOf(found.initializer, rest)
}

/** Puts lists of one text on one line, as Biome does except in `package.json`. */
function singlesInLine(text: string): string {
  return text.replaceAll(/\[\s+("[^"]*")\s+\]/g, '[$1]')
}

/** Replaces the rows of the table with this header. */
function withTable(text: string, header: string, rows: readonly string[]): string {
  const [before, after] = text.split(`\n${header}\n`)
  if (before === undefined || after === undefined) throw new Error(`there is no table ${header}`)
  const [rule = '', ...others] = after.split('\n')
  return [before, header, rule, ...rows, ...others.slice(others.indexOf(''))].join('\n')
}

import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { entries } from '../support/entries.ts'
import { LAYERS, layerOf } from './layers.ts'
import { nodesOf, parse, placeOf, readSources, type Source, tokensOf } from './source.ts'

const MAX_LINES = 300
/** Files that are one verb: it is read from top to bottom. */
const VERBS = ['claim', 'claim-text', 'commit', 'read', 'scan', 'scan-text'].map(
  (verb) => `src/storage/sql/records/${verb}.ts`,
)
const MAX_VERB_LINES = 400
const MAX_ADAPTER_LINES = 60
const VAGUE = ['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'types', 'manager']

const sources = readSources()

describe('names', () => {
  it('No file or folder has a vague name', () => {
    const vague = sources.filter(({ path }) => path.split(/[/.-]/).some((word) => VAGUE.includes(word)))
    expect(vague.map(({ path }) => path)).toEqual([])
  })

  it('File names are in lower case, with hyphens', () => {
    const odd = sources.filter(({ path }) => !/^src\/(?:[a-z\d]+(?:-[a-z\d]+)*[/.])+tsx?$/.test(path))
    expect(odd.map(({ path }) => path)).toEqual([])
  })
})

describe('size', () => {
  it(`No file has more than ${MAX_LINES} lines, except lists of names, and ${MAX_VERB_LINES} for one verb`, () => {
    const long = sources
      .filter((source) => !isBarrel(source))
      .map(({ path, ast }) => ({ path, lines: ast.text.split('\n').length - 1 }))
    const most = (path: string): number => (VERBS.includes(path) ? MAX_VERB_LINES : MAX_LINES)
    expect(long.filter(({ path, lines }) => lines > most(path))).toEqual([])
    expect(VERBS.filter((verb) => sources.every(({ path }) => path !== verb))).toEqual([])
  })

  it(`No adapter has more than ${MAX_ADAPTER_LINES} lines of code`, () => {
    const adapters = sources.filter(({ path }) => layerOf(path) === 'src/adapters/')
    expect(adapters.length).toBeGreaterThan(0)
    const long = adapters.map((source) => ({ path: source.path, lines: codeLines(source) }))
    expect(long.filter(({ lines }) => lines > MAX_ADAPTER_LINES)).toEqual([])
  })

  it('The count of code lines ignores comments and blank lines', () => {
    expect(codeLines(parse('src/a.ts', '/** A\n * b. */\nconst a = {\n\n  b: `\n`, // c\n}\n'))).toBe(4)
  })
})

describe('exports', () => {
  it('No file has a default export', () => {
    expect(places(isDefaultExport)).toEqual([])
  })

  it('No file has a wildcard re-export, except of the index.ts of plugins', () => {
    expect(places((node) => ts.isExportDeclaration(node) && isStar(node) && !isOfPlugin(node))).toEqual([])
  })

  it('Only entries and plugins may consist of re-exports or be named index.ts', () => {
    const published = new Set([...entries().values()].map((file) => file.replace('./', '')))
    const inner = sources.filter(({ path }) => !published.has(path) && !/^src\/plugins\/[^/]+\/index\.ts$/.test(path))
    expect(inner.filter(isBarrel).map(({ path }) => path)).toEqual([])
    expect(inner.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)).toEqual([])
  })
})

describe('the layout', () => {
  it('src itself holds only the codes of errors, their texts and index.ts', () => {
    const loose = sources.map(({ path }) => path).filter((path) => path.split('/').length === 2)
    expect(loose).toEqual(['src/code-texts.ts', 'src/errors.ts', 'src/index.ts'])
  })
})

describe('the ports', () => {
  it('The ports hold only types', () => {
    const promised = sources.filter(({ path }) => LAYERS[layerOf(path)]?.typesOnly)
    const real = promised.flatMap((file) =>
      file.ast.statements.filter((s) => !isErased(s)).map((s) => placeOf(file, s)),
    )
    expect(real).toEqual([])
  })
})

describe('types', () => {
  it('No type is any', () => {
    expect(places((node) => node.kind === ts.SyntaxKind.AnyKeyword)).toEqual([])
  })

  it('No file silences the type checker', () => {
    const silenced = sources.filter((source) => tokensOf(source).some(({ before }) => /@ts-[a-z]/.test(before)))
    expect(silenced.map(({ path }) => path)).toEqual([])
  })
})

function places(isWrong: (node: ts.Node) => boolean): string[] {
  return sources.flatMap((source) =>
    nodesOf(source.ast)
      .filter(isWrong)
      .map((node) => placeOf(source, node)),
  )
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword) return true
  return ts.isExportSpecifier(node) && node.name.text === 'default'
}

function isStar({ exportClause }: ts.ExportDeclaration): boolean {
  return !exportClause || ts.isNamespaceExport(exportClause)
}

/** True for `export * from './consent/index.ts'` of `src/plugins/index.ts`: the names of a plugin stand in its own folder. */
function isOfPlugin(node: ts.ExportDeclaration): boolean {
  const from = node.moduleSpecifier?.getText().slice(1, -1) ?? ''
  return /^\.\/[^/]+\/index\.ts$/.test(from) && node.getSourceFile().fileName.endsWith('src/plugins/index.ts')
}

function isBarrel({ ast }: Source): boolean {
  return ast.statements.length > 0 && ast.statements.every((s) => ts.isExportDeclaration(s) && s.moduleSpecifier)
}

function isErased(node: ts.Statement): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
  if (ts.isExportDeclaration(node)) return node.isTypeOnly
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
}

function codeLines(source: Source): number {
  const lines = new Set<number>()
  for (const { start, end } of tokensOf(source)) {
    const last = lineAt(source, end)
    for (let line = lineAt(source, start); start < end && line <= last; line++) lines.add(line)
  }
  return lines.size
}

function lineAt({ ast }: Source, offset: number): number {
  return ast.getLineAndCharacterOfPosition(offset).line
}

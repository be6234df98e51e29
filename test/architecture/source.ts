import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../support/entries.ts'

/** A parsed file of `src/`. */
export interface Source {
  /** Path from the root: `src/core/answers/result.ts`. */
  readonly path: string
  readonly ast: ts.SourceFile
  readonly imports: readonly Import[]
}

/** One import: `import`, `export … from`, `import()`, or `import('…')` as a type. */
export interface Import {
  /** Path of a file in `src/`, name of a package without its subpath, or a full `node:` name. */
  readonly to: string
  /** Nothing of the import remains at run time. */
  readonly typeOnly: boolean
}

/** Parses all of `src/`. */
export function readSources(): Source[] {
  const files = readdirSync(new URL('src/', ROOT), { recursive: true, encoding: 'utf8' })
  const paths = files.filter((file) => /\.tsx?$/.test(file)).map((file) => `src/${file.replaceAll('\\', '/')}`)
  return paths.sort().map((path) => parse(path, readFileSync(new URL(path, ROOT), 'utf8')))
}

/** Parses one file with the compiler's parser. */
export function parse(path: string, text: string): Source {
  const ast = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
  return { path, ast, imports: nodesOf(ast).flatMap((node) => importOf(path, node) ?? []) }
}

/** Every descendant of this node. */
export function nodesOf(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = []
  const visit = (child: ts.Node): void => {
    found.push(child)
    ts.forEachChild(child, visit)
  }
  ts.forEachChild(node, visit)
  return found
}

/** Every token of a file. White space and comments between tokens are in {@link Token.before}. */
export function tokensOf({ ast }: Source): Token[] {
  const read = (node: ts.Node): Token[] => {
    if (ts.isJSDoc(node)) return []
    const children = node.getChildren(ast)
    if (children.length > 0) return children.flatMap(read)
    const start = node.getStart(ast)
    return [{ before: ast.text.slice(node.pos, start), start, end: node.end }]
  }
  return read(ast)
}

/** A token, by its offsets. */
export interface Token {
  readonly before: string
  readonly start: number
  readonly end: number
}

/** Position of a node for a message: `src/core/answers/result.ts:12`. */
export function placeOf({ path, ast }: Source, node: ts.Node): string {
  return `${path}:${ast.getLineAndCharacterOfPosition(node.getStart(ast)).line + 1}`
}

function importOf(from: string, node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node)) return named(from, node.moduleSpecifier, isTypeImport(node))
  if (ts.isExportDeclaration(node)) return named(from, node.moduleSpecifier, node.isTypeOnly)
  if (ts.isImportTypeNode(node)) return named(from, ts.isLiteralTypeNode(node.argument) && node.argument.literal, true)
  const loads = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return loads ? named(from, node.arguments[0], false) : undefined
}

/** `import { type A }` alone still loads the module: the compiler keeps it as `import {}`. */
function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  return importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
}

function named(from: string, specifier: ts.Node | undefined | false, typeOnly: boolean): Import | undefined {
  if (!specifier) return undefined
  const text = ts.isStringLiteralLike(specifier) ? specifier.text : specifier.getText()
  if (text.startsWith('.')) return { to: posix.join(posix.dirname(from), text), typeOnly }
  return { to: text.startsWith('node:') ? text : packageOf(text), typeOnly }
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

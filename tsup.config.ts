import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Options } from 'tsup'
import ts from 'typescript'

const { compilerOptions } = JSON.parse(readFileSync(new URL('tsconfig.json', import.meta.url), 'utf8'))
const paths = Object.entries<[string]>(compilerOptions.paths)

/** One bundle per entry of the package: `tsconfig.json` says which there are. */
const entry: Record<string, string> = Object.fromEntries(
  paths.map(([name, [file]]) => [name === 'sallyport' ? 'index' : name.replace('sallyport/', ''), file]),
)

/**
 * Says of every constant what `sideEffects: false` says of whole files: that working it out does nothing else. A file of the
 * build holds many modules, and without this a bundler keeps the constants of all of them, and whatever these call.
 */
const droppableConstants: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'droppable-constants',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.+\.ts$/ }, async ({ path }) => ({
      contents: withDroppableConstants(path, await readFile(path, 'utf8')),
      loader: 'ts',
    }))
  },
}

/**
 * `const a = f()` becomes `const a = (() => (f()))()`, called pure. A minifier undoes that where it keeps the constant: a
 * host's may, this build must not minify.
 */
function withDroppableConstants(path: string, text: string): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext)
  const values = source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations.flatMap(({ initializer }) => initializer ?? []))
  return values.filter(isWorkedOut).reduceRight((whole, value) => {
    const [from, to] = [value.getStart(source), value.end]
    return `${whole.slice(0, from)}/* @__PURE__ */ (() => (${whole.slice(from, to)}))()${whole.slice(to)}`
  }, text)
}

/** Whether something is called, read or reckoned when the module loads, which might do anything. */
function isWorkedOut(node: ts.Node): boolean {
  if (ts.isFunctionLike(node) || ts.isTypeNode(node)) return false
  return WORK.has(node.kind) || (ts.forEachChild(node, isWorkedOut) ?? false)
}

const WORK: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.CallExpression,
  ts.SyntaxKind.NewExpression,
  ts.SyntaxKind.PropertyAccessExpression,
  ts.SyntaxKind.ElementAccessExpression,
  ts.SyntaxKind.SpreadElement,
  ts.SyntaxKind.SpreadAssignment,
  ts.SyntaxKind.BinaryExpression,
  ts.SyntaxKind.TemplateExpression,
])

const config: Options = {
  entry,
  format: 'esm',
  target: ['node20', 'es2023'],
  platform: 'node',
  // Runtimes other than Node know its modules by their prefix alone.
  removeNodeProtocol: false,
  splitting: true,
  clean: true,
  esbuildPlugins: [droppableConstants],
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
}

export default config

import { dirname, join } from 'node:path'
import ts from 'typescript'

/** The settings of `strict`, without those that few projects have. */
export const STRICT: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: true,
  skipLibCheck: true,
}

/** As {@link STRICT}: optional members do not accept `undefined`. */
export const EXACT: ts.CompilerOptions = { ...STRICT, exactOptionalPropertyTypes: true }

/**
 * Compiles programs of one folder with all that they import, into its folder `out`. Returns the errors of each, and last those of the
 * files that they import.
 */
export function compiled(programs: readonly string[], options: ts.CompilerOptions): readonly (readonly string[])[] {
  const folder = dirname(programs[0] ?? '')
  const compilation = ts.createProgram(programs, { ...options, rootDir: folder, outDir: join(folder, 'out') })
  const faultsOf = (source: ts.SourceFile): readonly string[] =>
    ts
      .getPreEmitDiagnostics(compilation, source)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  const imported = compilation
    .getSourceFiles()
    .filter((source) => source.fileName.startsWith(folder) && !source.fileName.includes('/node_modules/'))
    .filter((source) => !programs.includes(source.fileName))
  compilation.emit()
  const sources = programs.map((program) => compilation.getSourceFile(program))
  return [...sources.map((source) => (source ? faultsOf(source) : ['is absent'])), imported.flatMap(faultsOf)]
}

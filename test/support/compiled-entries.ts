import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { entries, ROOT, readJson } from './entries.ts'

/** Entries of the package after the compiler has read them. */
export interface CompiledEntries {
  /** The file of each entry. */
  readonly files: ReadonlyMap<string, string>
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
}

/** Compiles entries under the options of the project. Default: all. */
export function compileEntries(of: ReadonlyMap<string, string> = entries()): CompiledEntries {
  const files = new Map([...of].map(([entry, file]) => [entry, fileURLToPath(new URL(file, ROOT))]))
  const { options } = ts.convertCompilerOptionsFromJson(readJson('tsconfig.json').compilerOptions, fileURLToPath(ROOT))
  const program = ts.createProgram([...files.values()], options)
  return { files, program, checker: program.getTypeChecker() }
}

/** The exports of a file by their names, each the symbol that declares it. */
export function exportsOf({ program, checker }: CompiledEntries, file: string): ReadonlyMap<string, ts.Symbol> {
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  const exported = module ? checker.getExportsOfModule(module) : []
  return new Map(
    exported.map((symbol) => [
      symbol.name,
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    ]),
  )
}

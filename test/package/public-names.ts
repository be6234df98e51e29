import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { entries, ROOT, readJson } from '../support/entries.ts'

/** Exports of an entry. */
export interface PublicNames {
  /** Exports at run time. */
  readonly values: readonly string[]
  /** Types alone. */
  readonly types: readonly string[]
  /** Exports without a doc comment. */
  readonly undocumented: readonly string[]
}

let found: ReadonlyMap<string, PublicNames> | undefined

/** The exports of every entry, from the compiler. */
export function publicNames(): ReadonlyMap<string, PublicNames> {
  found ??= compiledNames()
  return found
}

/** The text of `public-names.txt`: all exports of every entry. */
export function publicNamesText(): string {
  const list = [...publicNames()].map(([entry, { values, types }]) =>
    [entry, ...values.map((name) => `  ${name}`), ...types.map((name) => `  type ${name}`)].join('\n'),
  )
  return `${list.join('\n\n')}\n`
}

function compiledNames(): ReadonlyMap<string, PublicNames> {
  const files = new Map([...entries()].map(([entry, file]) => [entry, fileURLToPath(new URL(file, ROOT))]))
  const { options } = ts.convertCompilerOptionsFromJson(readJson('tsconfig.json').compilerOptions, fileURLToPath(ROOT))
  const program = ts.createProgram([...files.values()], options)
  const checker = program.getTypeChecker()
  return new Map([...files].map(([entry, file]) => [entry, namesOf(checker, program.getSourceFile(file))]))
}

function namesOf(checker: ts.TypeChecker, file: ts.SourceFile | undefined): PublicNames {
  const module = file && checker.getSymbolAtLocation(file)
  const exported = (module ? checker.getExportsOfModule(module) : []).map((symbol) => {
    const origin = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const documented = origin.getDocumentationComment(checker).length > 0
    return { name: symbol.name, isValue: (origin.flags & ts.SymbolFlags.Value) !== 0, documented }
  })
  const named = (which: (found: (typeof exported)[number]) => boolean): string[] =>
    exported.flatMap((found) => (which(found) ? found.name : [])).sort()
  return {
    values: named(({ isValue }) => isValue),
    types: named(({ isValue }) => !isValue),
    undocumented: named(({ documented }) => !documented),
  }
}

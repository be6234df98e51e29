import ts from 'typescript'
import { type CompiledEntries, compileEntries, exportsOf } from '../support/compiled-entries.ts'

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
  const compiled = compileEntries()
  return new Map([...compiled.files].map(([entry, file]) => [entry, namesOf(compiled, file)]))
}

function namesOf(compiled: CompiledEntries, file: string): PublicNames {
  const exported = [...exportsOf(compiled, file)].map(([name, origin]) => {
    const documented = origin.getDocumentationComment(compiled.checker).length > 0
    return { name, isValue: (origin.flags & ts.SymbolFlags.Value) !== 0, documented }
  })
  const named = (which: (found: (typeof exported)[number]) => boolean): string[] =>
    exported.flatMap((found) => (which(found) ? found.name : [])).sort()
  return {
    values: named(({ isValue }) => isValue),
    types: named(({ isValue }) => !isValue),
    undocumented: named(({ documented }) => !documented),
  }
}

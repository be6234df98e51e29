import ts from 'typescript'
import { type CompiledEntries, compileEntries, exportsOf } from '../support/compiled-entries.ts'
import { wrapped } from '../support/wrapped.ts'

const HEAD = `# Options

This page lists every option with its type, limits and default, by the entry that exports the options. An unknown name or an
invalid value is a \`SallyportError\` that names the option. Times are in milliseconds unless the name says otherwise.
`

/** The types that a host meets first, before the others of their entry in the order of the alphabet. */
const FIRST = ['SallyportOptions', 'EventDefinition', 'ChannelDefinition', 'DigestDefinition', 'WorkerOptions']

/** Its options are those of `SallyportOptions`. */
const OMITTED = 'RunsOnlyOptions'

/** The text of `docs/options.md`, from the doc comments of the interfaces whose names end with `Options` or `Definition`. */
export function optionsPage(): string {
  const compiled = compileEntries()
  const { files, checker } = compiled
  const seen = new Set<ts.Symbol>()
  const sections = [...files].flatMap(([entry, file]) => {
    const types = optionTypes(compiled, file).filter((type) => !seen.has(type))
    for (const type of types) seen.add(type)
    return types.length === 0 ? [] : [`## ${entry}`, ...types.map((type) => optionsOf(checker, type))]
  })
  return `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`
}

/** The exported types of options of an entry, by name. */
function optionTypes(compiled: CompiledEntries, file: string): readonly ts.Symbol[] {
  return [...exportsOf(compiled, file).values()]
    .filter(({ name }) => /(?:Options|Definition)$/.test(name) && name !== OMITTED)
    .filter(({ flags }) => flags & ts.SymbolFlags.Interface)
    .sort((a, b) => positionOf(a) - positionOf(b) || a.name.localeCompare(b.name))
}

function positionOf({ name }: ts.Symbol): number {
  const position = FIRST.indexOf(name)
  return position < 0 ? FIRST.length : position
}

function optionsOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
  const items = properties.map((property) => {
    const required = property.flags & ts.SymbolFlags.Optional ? '' : ', required'
    const text = textOf(checker, property)
    return wrapped(`- \`${property.name}\`: \`${typeText(checker, property)}\`${required}${text && `. ${text}`}`, '  ')
  })
  return [`### ${symbol.name}`, wrapped(textOf(checker, symbol)), items.join('\n')].filter(Boolean).join('\n\n')
}

/** A doc comment in one line, with code for names of the code and links for pages. */
function textOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker))
  return text
    .replaceAll(/\{@link (\S+?) ?\}/g, '`$1`')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** A type as it is written, without `undefined`. */
function typeText(checker: ts.TypeChecker, property: ts.Symbol): string {
  const declared = property.valueDeclaration
  const node = declared && ts.isPropertySignature(declared) ? declared.type : undefined
  const text = node ? node.getText() : checker.typeToString(checker.getTypeOfSymbol(property))
  return text.replaceAll(/\s+/g, ' ').replace(/ \| undefined$/, '')
}

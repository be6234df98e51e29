import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { ROOT, readJson } from '../support/entries.ts'

/** A member of an options type. */
export interface OptionMember {
  readonly isRequired: boolean
  /** The possible values by {@link kindOf}; `undefined` for any value. */
  readonly kinds: ReadonlySet<string> | undefined
}

/** `typeof`, with `list` for arrays. */
export function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value
}

/**
 * Gives the members of a published type.
 *
 * @param path `Type`, `Type.member` for the type of a member, `Type|a,b` for some of its members, `entry#Type` for that of another entry.
 */
export type FindMembers = (call: string, path: string) => ReadonlyMap<string, OptionMember>

/** Finds types of these entries, which are compiled when the first one is asked for. */
export function membersIn(of: ReadonlyMap<string, string>): FindMembers {
  let compiled: Compiled | undefined
  return (call, path) => {
    compiled ??= compile(of)
    return membersOf(compiled, call, path)
  }
}

interface Compiled {
  /** The files of the entries. */
  readonly files: ReadonlyMap<string, string>
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
}

function compile(of: ReadonlyMap<string, string>): Compiled {
  const files = new Map([...of].map(([entry, file]) => [entry, fileURLToPath(new URL(file, ROOT))]))
  const { options } = ts.convertCompilerOptionsFromJson(readJson('tsconfig.json').compilerOptions, fileURLToPath(ROOT))
  const program = ts.createProgram([...files.values()], options)
  return { files, program, checker: program.getTypeChecker() }
}

function membersOf(compiled: Compiled, call: string, path: string): ReadonlyMap<string, OptionMember> {
  const { checker } = compiled
  const [entry = '', name = ''] = path.includes('#') ? path.split('#') : [call.split(' ')[0], path]
  const [whole = '', picked] = name.split('|')
  const [typeName = '', ...members] = whole.split('.')
  const type = members.reduce(
    (within, member) => memberType(checker, within, member),
    declaredType(compiled, entry, typeName),
  )
  const properties = checker.getPropertiesOfType(type).filter(({ name }) => !picked || picked.split(',').includes(name))
  const isPartial = path.includes('#')
  return new Map(
    properties.map((property) => [
      property.name,
      {
        isRequired: !isPartial && !(property.flags & ts.SymbolFlags.Optional),
        kinds: kindsOf(checker, checker.getTypeOfSymbol(property)),
      },
    ]),
  )
}

function kindsOf(checker: ts.TypeChecker, type: ts.Type): OptionMember['kinds'] {
  if (type.flags & ts.TypeFlags.Unknown) return undefined
  const parts = type.isUnion() ? type.types : [type]
  return new Set(parts.flatMap((part) => typeKind(checker, part) ?? []))
}

function typeKind(checker: ts.TypeChecker, type: ts.Type): string | undefined {
  if (type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)) return undefined
  if (type.flags & ts.TypeFlags.StringLike) return 'string'
  if (type.flags & ts.TypeFlags.NumberLike) return 'number'
  if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean'
  if (checker.isArrayLikeType(type)) return 'list'
  return type.getCallSignatures().length > 0 ? 'function' : 'object'
}

function declaredType({ files, program, checker }: Compiled, entry: string, name: string): ts.Type {
  for (const each of new Set([entry, ...files.keys()])) {
    const source = program.getSourceFile(files.get(each) ?? '')
    const module = source && checker.getSymbolAtLocation(source)
    const found = module && checker.getExportsOfModule(module).find((symbol) => symbol.name === name)
    if (!found) continue
    return checker.getDeclaredTypeOfSymbol(found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found)
  }
  throw new Error(`no entry has a type ${name}`)
}

function memberType(checker: ts.TypeChecker, type: ts.Type, member: string): ts.Type {
  const found = checker.getPropertyOfType(type, member)
  if (!found) throw new Error(`there is no member ${member}`)
  return checker.getNonNullableType(checker.getTypeOfSymbol(found))
}

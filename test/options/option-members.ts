import ts from 'typescript'
import { type CompiledEntries, compileEntries, exportsOf } from '../support/compiled-entries.ts'

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
  let compiled: CompiledEntries | undefined
  return (call, path) => {
    compiled ??= compileEntries(of)
    return membersOf(compiled, call, path)
  }
}

function membersOf(compiled: CompiledEntries, call: string, path: string): ReadonlyMap<string, OptionMember> {
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

function declaredType(compiled: CompiledEntries, entry: string, name: string): ts.Type {
  const { files, checker } = compiled
  for (const each of new Set([entry, ...files.keys()])) {
    const found = exportsOf(compiled, files.get(each) ?? '').get(name)
    if (found) return checker.getDeclaredTypeOfSymbol(found)
  }
  throw new Error(`no entry has a type ${name}`)
}

function memberType(checker: ts.TypeChecker, type: ts.Type, member: string): ts.Type {
  const found = checker.getPropertyOfType(type, member)
  if (!found) throw new Error(`there is no member ${member}`)
  return checker.getNonNullableType(checker.getTypeOfSymbol(found))
}

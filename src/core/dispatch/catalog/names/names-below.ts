import type { FactPath } from '../../../../ports/fact-path.ts'

/** Names below the value of one schema. Empty for a number. */
export interface SchemaPart {
  /** Other schemas of the same value: members of a union, or what an optional schema wraps. */
  readonly same?: readonly unknown[]
  /** Schemas of an object's members, by name. */
  readonly names?: Iterable<readonly [name: string, schema: unknown]>
  /** Schemas of a list's elements. */
  readonly elements?: readonly unknown[]
  readonly isText?: boolean
}

/** Reads one schema. `undefined`: the value may have any name. */
export type ReadSchema = (schema: unknown) => SchemaPart | undefined

/** The first name of a path that no schema has. */
export interface UnknownName {
  /** Index of the name in the path. */
  readonly index: number
  readonly name: string
  /** Names that are there instead. */
  readonly known: readonly string[]
  /** The name stands below a list. */
  readonly isInList: boolean
}

/** Follows a path from a schema down. `undefined`: every name is known, or may be there. */
export function findUnknownName(path: FactPath, schema: unknown, read: ReadSchema): UnknownName | undefined {
  let schemas: readonly unknown[] = [schema]
  for (const [index, step] of path.entries()) {
    const below = namesBelow(schemas, read)
    const next = below && (typeof step === 'number' ? elementsOf(below) : membersOf(step, below))
    if (!below || !next) return undefined
    if (next.length === 0) {
      return { index, name: String(step), known: [...below.names.keys()], isInList: below.isList }
    }
    schemas = next
  }
  return undefined
}

interface Below {
  readonly names: Map<string, unknown[]>
  readonly elements: unknown[]
  isList: boolean
  isText: boolean
}

/** With more schemas of one value, its names are not checked. */
const MAX_SCHEMAS = 1_000

/** Names below a value that fits one of the schemas. `undefined`: it may have any name. */
function namesBelow(schemas: readonly unknown[], read: ReadSchema): Below | undefined {
  const all = new Set(schemas)
  const below: Below = { names: new Map(), elements: [], isList: false, isText: false }
  // The loop also reaches the schemas that it adds.
  for (const schema of all) {
    const part = read(schema)
    if (!part || all.size > MAX_SCHEMAS) return undefined
    const { same = [], names = [], elements, isText } = part
    for (const other of same) all.add(other)
    for (const [name, inner] of names) {
      const found = below.names.get(name)
      if (found) found.push(inner)
      else below.names.set(name, [inner])
    }
    if (elements) {
      below.elements.push(...elements)
      below.isList = true
    }
    if (isText) below.isText = true
  }
  return below
}

/** `undefined`: not known. A loop over an object gives its names and values, one over a text gives the text. */
function elementsOf({ names, elements, isText }: Below): readonly unknown[] | undefined {
  return names.size === 0 && !isText && elements.length > 0 ? elements : undefined
}

const INDEX = /^\d+$/
const ENDS: readonly string[] = ['first', 'last']

/** `undefined`: the name is there, and what stands below it is not known. Empty: the name is not there. */
function membersOf(name: string, { names, elements, isList, isText }: Below): readonly unknown[] | undefined {
  const isIndex = INDEX.test(name)
  if ((isList || isText) && name === 'length') return undefined
  if (isText && isIndex) return undefined
  const isElement = isIndex || ENDS.includes(name)
  return [...(names.get(name) ?? []), ...(isElement ? elements : [])]
}

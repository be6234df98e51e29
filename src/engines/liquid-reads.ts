import { AssignTag, type Filter, ForTag, type Template, type Token, TypeGuards, toValueSync, Value } from 'liquidjs'
import type { FactPath } from '../ports/fact-path.ts'
import type { TemplateRead } from '../ports/template-engine.ts'
import { BY_PROPERTY } from './liquid-arguments.ts'
import { FACTS } from './liquid-check.ts'

/** Paths that a parsed template certainly reads in the facts. */
export function readsOf(templates: readonly Template[]): readonly TemplateRead[] {
  const walk = new Walk(timesAssigned(templates, new Map()))
  walk.block(templates, new Map())
  return walk.reads
}

function timesAssigned(templates: readonly Template[], times: Map<string, number>): ReadonlyMap<string, number> {
  for (const template of templates) {
    for (const { content } of template.localScope?.() ?? []) times.set(content, (times.get(content) ?? 0) + 1)
    timesAssigned(childrenOf(template), times)
  }
  return times
}

function childrenOf(template: Template): readonly Template[] {
  const children: unknown = template.children && toValueSync(template.children(false, true))
  return Array.isArray(children) ? children : []
}

/** Paths of the variables of the surrounding loops. `undefined`: not certain. */
type Loops = ReadonlyMap<string, FactPath | undefined>

/** Filters whose output has the elements of their input. */
const KEEPING: readonly string[] = ['compact', 'reverse', 'sort', 'uniq', 'where']
const ELEMENT: readonly string[] = ['first', 'last']

/** An expression with filters. */
type FilteredValue = Pick<Value, 'initial'> & { readonly filters: readonly Pick<Filter, 'name' | 'args'>[] }

class Walk {
  readonly reads: TemplateRead[] = []
  readonly #assigned: ReadonlyMap<string, number>
  /** Paths of names that are assigned once. */
  readonly #aliases = new Map<string, FactPath | undefined>()

  constructor(assigned: ReadonlyMap<string, number>) {
    this.#assigned = assigned
  }

  block(templates: readonly Template[], loops: Loops): void {
    for (const template of templates) {
      const [path] = [...(template.arguments?.() ?? [])].map((part) => this.#argument(part, loops))
      if (template instanceof ForTag) {
        const element = path && [...path, 0]
        this.block(template.templates, new Map([...loops, [template.variable, element], ['forloop', undefined]]))
        this.block(template.elseTemplates ?? [], loops)
      } else {
        if (template instanceof AssignTag) this.#assign(template, path)
        this.block(childrenOf(template), loops)
      }
    }
  }

  /** A name that is assigned twice, or that is also a fact, may have another value. */
  #assign(tag: AssignTag, path: FactPath | undefined): void {
    for (const { content } of tag.localScope()) {
      if (this.#assigned.get(content) === 1 && !FACTS.has(content)) this.#aliases.set(content, path)
    }
  }

  #argument(part: unknown, loops: Loops): FactPath | undefined {
    const isValue = part instanceof Value || TypeGuards.isFilteredValueToken(part)
    return isValue ? this.#value(part, loops) : this.#token(part, loops)
  }

  #value({ initial, filters }: FilteredValue, loops: Loops): FactPath | undefined {
    const paths = initial.postfix.map((token) => this.#token(token, loops))
    const single = paths.length === 1 ? paths[0] : undefined
    return filters.reduce((path, filter) => this.#filter(filter, path, loops), single)
  }

  #filter(
    { name, args }: FilteredValue['filters'][number],
    path: FactPath | undefined,
    loops: Loops,
  ): FactPath | undefined {
    for (const arg of args) this.#token(Array.isArray(arg) ? arg[1] : arg, loops)
    const [property] = args
    if (path && BY_PROPERTY.includes(name) && TypeGuards.isQuotedToken(property)) {
      this.#report([...path, 0, ...property.content.split('.')], property)
    }
    if (KEEPING.includes(name)) return path
    return path && ELEMENT.includes(name) ? [...path, 0] : undefined
  }

  /** Reports the path of a variable up to its first computed name. Returns it if it is whole. */
  #token(token: unknown, loops: Loops): FactPath | undefined {
    if (TypeGuards.isRangeToken(token)) {
      this.#token(token.lhs, loops)
      this.#token(token.rhs, loops)
    }
    if (!TypeGuards.isPropertyAccessToken(token)) return undefined
    for (const inner of [token.variable, ...token.props]) this.#token(inner, loops)
    const [root, ...names] = token.variable === undefined ? token.props.map(nameOf) : []
    const base = typeof root === 'string' ? this.#variable(root, loops) : undefined
    if (!base) return undefined
    const end = names.indexOf(undefined)
    const certain = end < 0 ? names : names.slice(0, end)
    const path = [...base, ...certain.filter((name) => name !== undefined)]
    this.#report(path, token)
    return end < 0 ? path : undefined
  }

  #variable(name: string, loops: Loops): FactPath | undefined {
    if (loops.has(name)) return loops.get(name)
    return this.#assigned.has(name) ? this.#aliases.get(name) : [name]
  }

  #report(path: FactPath, token: Token): void {
    const [line, column] = token.getPosition()
    this.reads.push({ path, ...(line !== undefined && column !== undefined && { line, column }) })
  }
}

/** `undefined`: the name is computed, or `size`, which every list, text and object has. */
function nameOf(prop: Token): string | number | undefined {
  const isName = TypeGuards.isWordToken(prop) || TypeGuards.isQuotedToken(prop) || TypeGuards.isNumberToken(prop)
  return isName && prop.content !== 'size' ? prop.content : undefined
}

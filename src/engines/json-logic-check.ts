import { nearNames } from '../model/suggestions.ts'
import type { ConditionFault, ConditionRead } from '../ports/condition-engine.ts'
import type { FactPath } from '../ports/fact-path.ts'
import { meantPath } from './meant-path.ts'

/** A checked rule: a literal, a list, or one operation with its operands in an array. */
export type Rule = Literal | readonly Rule[] | RuleOperation

export type Literal = string | number | boolean | null

/** `{ operator: operands }`, with that key only. */
export interface RuleOperation {
  readonly [operator: string]: readonly Rule[]
}

const MAX_DEPTH = 16
const MAX_NODES = 256

/** The allowlist, with the number of operands of each operator. */
const OPERANDS: ReadonlyMap<string, readonly [min: number, max: number]> = new Map([
  ['and', [1, MAX_NODES]],
  ['or', [1, MAX_NODES]],
  ['if', [2, MAX_NODES]],
  ['?:', [3, 3]],
  ['!', [1, 1]],
  ['!!', [1, 1]],
  ['==', [2, 2]],
  ['===', [2, 2]],
  ['!=', [2, 2]],
  ['!==', [2, 2]],
  ['<', [2, 3]],
  ['<=', [2, 3]],
  ['>', [2, 3]],
  ['>=', [2, 3]],
  ['in', [2, 2]],
  ['var', [1, 2]],
  ['missing', [1, MAX_NODES]],
  ['missing_some', [2, 2]],
  ['some', [2, 2]],
  ['none', [2, 2]],
  ['all', [2, 2]],
  ['+', [1, MAX_NODES]],
  ['*', [1, MAX_NODES]],
  ['-', [1, 2]],
  ['/', [2, 2]],
  ['%', [2, 2]],
  ['max', [1, MAX_NODES]],
  ['min', [1, MAX_NODES]],
  ['cat', [1, MAX_NODES]],
  ['substr', [2, 3]],
])

const INHERITED: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype'])

class Fault {
  readonly fault: string
  readonly pointer: string

  constructor(fault: string, pointer: string) {
    this.fault = fault
    this.pointer = pointer
  }
}

class TooManyNodes extends Fault {}

/**
 * Returns a copy of the rule that is safe to evaluate and the paths that it reads, or all faults in it. In the copy, the first
 * operand of `some`, `none` and `all` is `{ list: [operand, nodes of the body] }`: the operator `list` checks that it is an array and
 * charges steps for it. `?:` is `if`.
 */
export function checkRule(
  rule: unknown,
): { readonly rule: Rule; readonly reads: readonly ConditionRead[] } | ConditionFault {
  const walk = new Walk()
  if (typeof rule === 'boolean') return { rule, reads: [] }
  if (!isPlainObject(rule)) {
    return { fault: 'A rule is an operation such as { "==": [...] }, or true or false.', pointer: '' }
  }
  const checked = walk.whole(rule)
  const [first, ...more] = walk.faults
  return first ? { ...first, ...(more.length > 0 && { more }) } : { rule: checked, reads: walk.reads }
}

/** Path of the element, in the body of `some`, `none` or `all`. */
type ElementPath = FactPath | undefined

/** Stands for a part with a fault. */
const NOTHING = null

class Walk {
  readonly faults: ConditionFault[] = []
  readonly reads: ConditionRead[] = []
  #nodes = 0

  whole(rule: object): Rule {
    try {
      return this.#part(() => this.#operation(rule, '', 1, undefined))
    } catch (error) {
      if (!(error instanceof TooManyNodes)) throw error
      this.faults.push({ fault: error.fault, pointer: error.pointer })
      return NOTHING
    }
  }

  /** Checks a part. Notes its fault, and goes on with the next part. */
  #part<Part extends Rule>(check: () => Part): Part | typeof NOTHING {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof Fault) || error instanceof TooManyNodes) throw error
      this.faults.push({ fault: error.fault, pointer: error.pointer })
      return NOTHING
    }
  }

  #operation(value: object, pointer: string, depth: number, element: ElementPath): RuleOperation {
    this.#count(pointer, depth)
    const [entry, another] = Object.entries(value)
    if (!entry || another) throw new Fault('An operation is an object with exactly one key, its operator.', pointer)
    const [operator, given] = entry
    const at = `${pointer}/${operator.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const limits = OPERANDS.get(operator)
    if (!limits) {
      throw new Fault(unknownOperator(operator), at)
    }
    const operands: readonly unknown[] = Array.isArray(given) ? given : [given]
    const place = (index: number): string => (Array.isArray(given) ? `${at}/${index}` : at)
    const [min, max] = limits
    if (operands.length < min || operands.length > max) {
      const range = min === max ? min : max === MAX_NODES ? `${min} or more` : `${min} to ${max}`
      throw new Fault(`"${operator}" takes ${range} operands, not ${operands.length}.`, at)
    }
    switch (operator) {
      case 'var':
        return { var: this.#variable(operands, place, depth, element) }
      case 'missing':
        return { missing: this.#paths(operands, place, depth, element) }
      case 'missing_some':
        return { missing_some: this.#missingSome(operands, place, depth, element) }
      case 'some':
      case 'none':
      case 'all':
        return { [operator]: this.#iteration(operands, place, depth, element) }
      default:
        return {
          [operator === '?:' ? 'if' : operator]: operands.map((operand, index) =>
            this.#rule(operand, place(index), depth + 1, element),
          ),
        }
    }
  }

  #rule(value: unknown, pointer: string, depth: number, element: ElementPath): Rule {
    return this.#part(() => {
      if (isPlainObject(value)) return this.#operation(value, pointer, depth, element)
      if (!Array.isArray(value)) return this.#literal(value, pointer, depth)
      this.#count(pointer, depth)
      return value.map((item: unknown, index) => this.#rule(item, `${pointer}/${index}`, depth + 1, element))
    })
  }

  #literal(value: unknown, pointer: string, depth: number): Literal {
    this.#count(pointer, depth)
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    if (typeof value === 'number' && Number.isFinite(value)) return value
    throw new Fault('This is not a JSON value.', pointer)
  }

  #variable(
    operands: readonly unknown[],
    place: (index: number) => string,
    depth: number,
    element: ElementPath,
  ): Rule[] {
    const [path, ...fallback] = operands
    const checked = this.#part(() => this.#path(path, place(0), depth, element))
    const scalars = fallback.map((value) => {
      if (typeof value === 'object' && value !== null) throw new Fault('The default of "var" is a scalar.', place(1))
      return this.#literal(value, place(1), depth)
    })
    return [checked, ...scalars]
  }

  #missingSome(
    operands: readonly unknown[],
    place: (index: number) => string,
    depth: number,
    element: ElementPath,
  ): Rule[] {
    const [needed, paths] = operands
    const count = this.#part(() => {
      if (typeof needed !== 'number' || !Number.isInteger(needed)) throw new Fault('This is a whole number.', place(0))
      return needed
    })
    if (!Array.isArray(paths)) throw new Fault('This is an array of paths.', place(1))
    return [count, this.#paths(paths, (index) => `${place(1)}/${index}`, depth, element)]
  }

  #paths(paths: readonly unknown[], place: (index: number) => string, depth: number, element: ElementPath): Rule[] {
    return paths.map((path, index) => this.#part(() => this.#path(path, place(index), depth, element)))
  }

  /** Requires a `var` as the list: with literals, nested rules could loop without bound. */
  #iteration(
    operands: readonly unknown[],
    place: (index: number) => string,
    depth: number,
    element: ElementPath,
  ): Rule[] {
    const [list, body] = operands
    const checkedList = this.#part(() => {
      if (!isPlainObject(list) || !Object.hasOwn(list, 'var')) throw new Fault('The list is a "var".', place(0))
      return this.#operation(list, place(0), depth + 1, element)
    })
    const [path = ''] = checkedList?.var ?? []
    const before = this.#nodes
    const inner = [...pathFrom(element, String(path)), 0]
    const checkedBody = this.#rule(body, place(1), depth + 1, inner)
    return [{ list: [checkedList, this.#nodes - before] }, checkedBody]
  }

  #path(path: unknown, pointer: string, depth: number, element: ElementPath): string {
    this.#count(pointer, depth)
    if (typeof path !== 'string') throw new Fault('A path is a literal string such as "data.order.total".', pointer)
    if (element && path === '') return path
    const segments = pathSegments(path)
    if (segments === undefined) throw new Fault('In a path, a backslash stands before a dot or a backslash.', pointer)
    if (segments.includes('')) throw new Fault('A path has no empty segment.', pointer)
    if (!element && segments[0] !== 'data' && segments[0] !== 'recipient') {
      throw new Fault(`A path starts with "data." or "recipient."; write ${meantPath(path)}?`, pointer)
    }
    const inherited = segments.find((segment) => INHERITED.has(segment))
    if (inherited !== undefined) throw new Fault(`"${inherited}" is not a name of data.`, pointer)
    this.reads.push({ path: pathFrom(element, path), pointer })
    return path
  }

  #count(pointer: string, depth: number): void {
    if (depth > MAX_DEPTH) throw new Fault(`The rule nests deeper than ${MAX_DEPTH} levels.`, pointer)
    this.#nodes += 1
    if (this.#nodes > MAX_NODES) throw new TooManyNodes(`The rule has more than ${MAX_NODES} nodes.`, pointer)
  }
}

/** Operators of other languages. */
const SYNONYMS: Readonly<Record<string, string>> = {
  '=': '==',
  '=>': '>=',
  '=<': '<=',
  '<>': '!=',
  '&&': 'and',
  '||': 'or',
  not: '!',
  equals: '==',
  greater: '>',
  less: '<',
  contains: 'in',
}

function unknownOperator(operator: string): string {
  const names = [...OPERANDS.keys()]
  const shown = `The operator "${operator.slice(0, 40)}" is not available`
  if (Object.hasOwn(SYNONYMS, operator)) return `${shown}; near: ${SYNONYMS[operator]}.`
  // Any two signs are near each other.
  const words = names.filter((name) => /^\w{2}/.test(name))
  const near = nearNames(operator, words)
  return near.length > 0 ? `${shown}; near: ${near.join(', ')}.` : `${shown}: ${names.join(' ')}.`
}

function pathFrom(element: ElementPath = [], path: string): FactPath {
  return path === '' ? element : [...element, ...(pathSegments(path) ?? [])]
}

const ESCAPED: readonly string[] = ['\\.', '\\\\']

/** The names in a path. A dot or a backslash in a name follows a backslash; `undefined`: a backslash precedes something else. */
export function pathSegments(path: string): readonly string[] | undefined {
  const names: string[] = ['']
  for (const [part] of path.matchAll(/\\?./gs)) {
    if (part === '.') names.push('')
    else if (part.startsWith('\\') && !ESCAPED.includes(part)) return undefined
    else names.push(`${names.pop()}${part.at(-1)}`)
  }
  return names
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** All values are true except `false`, `null`, `0`, `''` and an empty list. */
export function truthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

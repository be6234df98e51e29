/**
 * Conditions as data in JSON Logic, with an allowlist of operators.
 * @module sallyport/json-logic
 */
import { defaultMethods, LogicEngine } from 'json-logic-engine'
import type { JsonValue } from '../model/json.ts'
import type {
  CompiledCondition,
  ConditionEngine,
  ConditionFacts,
  ConditionFault,
  Decision,
} from '../ports/condition-engine.ts'
import { checkRule, type Literal, pathSegments, type Rule, truthy } from './json-logic-check.ts'
import { explain } from './json-logic-trace.ts'

/**
 * Evaluates conditions in [JSON Logic](https://jsonlogic.com).
 *
 * Operators: `and or ! !! if ?:`, `== === != !== < <= > >=`, `in`, `var missing missing_some`, `some none all`, `+ - * / % max min` and
 * `cat substr`. Compilation refuses all others, and rules with more than 256 nodes or 16 levels. Paths are literal and start with `data.`
 * or `recipient.`; a backslash precedes a dot or a backslash within a name: `data.labels.app\.kubernetes\.io`. The list of `some`,
 * `none` and `all` must be a `var`; within them, paths start at the element, and `''` is the element.
 *
 * An absent path is `null`: equal only to `null`, and 0 in comparisons of order, as in JavaScript. Only own properties are read. Lists
 * and objects equal only themselves and have no order; an empty list is false. Comparisons never fail. In `cat` and `substr`, `null` is
 * an empty text. The outcome is `error` after arithmetic on a value that is not a number, a division by zero, text of a list or an
 * object, or more than 100,000 steps (list elements times the nodes that read them). It generates no code.
 */
export function jsonLogic(): ConditionEngine {
  return { compile }
}

function compile(source: JsonValue): CompiledCondition | ConditionFault {
  const checked = checkRule(source)
  if ('fault' in checked) return checked
  const { rule, reads } = checked
  const { evaluate, reset } = createEvaluator()
  const decideRule = (facts: ConditionFacts): Decision => decide(rule, (part) => evaluate(part, facts), reset)
  return Object.assign(decideRule, { reads })
}

function decide(rule: Rule, evaluate: (part: Rule) => unknown, reset: () => void): Decision {
  try {
    reset()
    if (truthy(evaluate(rule))) return { outcome: 'true' }
    reset()
    return { outcome: 'false', trace: explain(rule, evaluate) }
  } catch (error) {
    return describe(error)
  }
}

/** The detail never quotes the error, which may contain a value of the facts. */
function describe(error: unknown): Decision {
  if (error instanceof StepsExceeded) return { outcome: 'error', detail: error.message }
  if (error instanceof NoText) return { outcome: 'error', detail: error.message }
  if (Number.isNaN(error)) return { outcome: 'error', detail: NO_NUMBER }
  return { outcome: 'error', detail: 'the condition could not be evaluated', cause: error }
}

const NO_NUMBER = 'the condition does arithmetic on something that is not a number, or divides by zero'

/**
 * Limit of one evaluation. A step is: a list element times the nodes of its body; 64 characters or elements of a variable; or 1,024 pairs
 * of characters of a substring search, its worst case.
 */
const MAX_STEPS = 100_000

class StepsExceeded extends Error {
  constructor() {
    super(`the condition takes more than ${MAX_STEPS} steps`)
  }
}

class NoText extends Error {
  constructor() {
    super('the condition uses a list or an object as text')
  }
}

/** Throws {@link StepsExceeded}, {@link NoText}, or `NaN` for arithmetic on a value that is not a number. */
type Evaluate = (rule: Rule, facts: unknown) => unknown

/** One per rule: the library stops optimising after many rules that do not repeat. `reset` sets the step counter to 0. */
function createEvaluator(): { readonly evaluate: Evaluate; readonly reset: () => void } {
  let steps = 0
  const spend = (count: number): void => {
    steps += count
    if (steps > MAX_STEPS) throw new StepsExceeded()
  }
  const engine = new CheckedEngine(methods(spend))
  return {
    evaluate: (rule, facts) => engine.run(rule, facts),
    reset: () => {
      steps = 0
    },
  }
}

class CheckedEngine extends LogicEngine {
  override truthy(value: unknown): boolean {
    return truthy(value)
  }

  /** Omits the enclosing data, which no rule can name: the optimiser would retain the data of the first evaluation. */
  override run(logic: unknown, data: unknown): unknown {
    return super.run(logic, data)
  }
}

const KEPT = ['and', 'or', 'if', 'some', 'none', 'all', '+', '-', '*', '/', '%'] as const

interface Method {
  readonly method: (operands: never, context: unknown) => unknown
  readonly deterministic: boolean
}

/**
 * The library's operators if they follow JSON Logic, otherwise our own: its comparisons throw for values that are not numbers, its `!`
 * uses a list as operands, and its `var` reads inherited properties.
 */
function methods(spend: (count: number) => void): Record<string, unknown> {
  const split = new Map<string, readonly string[]>()
  const find = (context: unknown, path: string): unknown => {
    let segments = split.get(path)
    if (segments === undefined) {
      segments = path === '' ? [] : (pathSegments(path) ?? [])
      split.set(path, segments)
    }
    return own(context, segments)
  }
  const absent = (paths: readonly string[], context: unknown): string[] =>
    paths.filter((path) => {
      const value = find(context, path)
      return value === undefined || value === null || value === ''
    })
  return {
    ...Object.fromEntries(KEPT.map((name) => [name, defaultMethods[name]])),
    ...COMPARISONS,
    in: compare(([item, list]) => {
      if (Array.isArray(list)) return list.includes(item)
      if (typeof list !== 'string' || (typeof item !== 'string' && typeof item !== 'number')) return false
      const text = String(item)
      spend((text.length * list.length) / 1024)
      return list.includes(text)
    }),
    var: {
      method: ([path, fallback]: readonly [string, Literal?], context) => {
        const value = find(context, path)
        spend(size(value) / 64)
        return value === undefined || typeof value === 'function' ? (fallback ?? null) : value
      },
      deterministic: false,
    },
    max: { method: (operands: readonly unknown[]) => Math.max(...operands.map(finite)), deterministic: true },
    min: { method: (operands: readonly unknown[]) => Math.min(...operands.map(finite)), deterministic: true },
    cat: {
      method: (operands: readonly unknown[]) => {
        const text = operands.map(textOf).join('')
        spend(text.length / 64)
        return text
      },
      deterministic: true,
    },
    substr: {
      method: ([given, start, length]: readonly unknown[]) => {
        const text = textOf(given)
        spend(text.length / 64)
        const rest = text.slice(finite(start))
        return length === undefined ? rest : rest.slice(0, finite(length))
      },
      deterministic: true,
    },
    missing: { method: (paths: readonly string[], context) => absent(paths, context), deterministic: false },
    missing_some: {
      method: ([needed, paths]: readonly [number, readonly string[]], context) => {
        const gone = absent(paths, context)
        return paths.length - gone.length >= needed ? [] : gone
      },
      deterministic: false,
    },
    list: {
      method: ([list, nodes]: readonly [unknown, number]) => {
        if (!Array.isArray(list)) return []
        spend(list.length * nodes)
        return list
      },
      deterministic: false,
    },
  } satisfies Record<string, unknown> & Record<'var' | 'missing' | 'missing_some' | 'list', Method>
}

const COMPARISONS: Readonly<Record<string, Method>> = {
  '!': compare(([value]) => !truthy(value)),
  '!!': compare(([value]) => truthy(value)),
  '==': compare(([left, right]) => equals(left, right)),
  '!=': compare(([left, right]) => !equals(left, right)),
  '===': compare(([left, right]) => left === right),
  '!==': compare(([left, right]) => left !== right),
  '<': compare((operands) => ordered(operands, (left, right) => left < right)),
  '<=': compare((operands) => ordered(operands, (left, right) => left <= right)),
  '>': compare((operands) => ordered(operands, (left, right) => left > right)),
  '>=': compare((operands) => ordered(operands, (left, right) => left >= right)),
}

function compare(method: (operands: readonly unknown[]) => boolean): Method {
  return { method, deterministic: true }
}

/** JavaScript's `==`, except that a list or an object equals only itself. */
function equals(left: unknown, right: unknown): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: JSON Logic's == is JavaScript's
  return left === right || (isScalar(left) && isScalar(right) && left == right)
}

/** Compares scalars as JavaScript does: two strings by code unit, others as numbers, `null` as 0. Lists and objects have no order. */
function ordered(operands: readonly unknown[], holds: (left: string, right: string) => boolean): boolean {
  return operands.every((right, index) => {
    if (index === 0) return true
    const left = operands[index - 1]
    // Narrows only the types: the operator accepts every scalar.
    return isScalar(left) && isScalar(right) && holds(left as string, right as string)
  })
}

function own(value: unknown, segments: readonly string[]): unknown {
  let found = value
  for (const segment of segments) {
    if (found === null || found === undefined || !Object.hasOwn(found, segment)) return undefined
    // An own property was found, so the value can be read like an object.
    found = (found as Record<string, unknown>)[segment]
  }
  return found
}

function finite(value: unknown): number {
  if (typeof value !== 'number') throw Number.NaN
  return value
}

function textOf(value: unknown): string {
  if (!isScalar(value)) throw new NoText()
  return value === null ? '' : String(value)
}

function size(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0
}

function isScalar(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && typeof value !== 'function')
}

import type { ConditionTrace } from '../model/dispatch.ts'
import type { JsonValue } from '../model/json.ts'
import { type Literal, type Rule, type RuleOperation, truthy } from './json-logic-check.ts'

const MAX_ENTRIES = 32
const MAX_LENGTH = 200
const COMPARISONS: ReadonlySet<string> = new Set(['==', '===', '!=', '!==', '<', '<=', '>', '>=', 'in'])

type Value = (part: Rule) => unknown

/** Lists the comparisons that made a rule false, at most 32. */
export function explain(rule: Rule, value: Value): readonly ConditionTrace[] {
  const entries: ConditionTrace[] = []
  for (const entry of reasons(rule, false, value)) {
    entries.push(entry)
    if (entries.length === MAX_ENTRIES) break
  }
  return entries.length > 0 || !isOperation(rule) ? entries : [{ rule: parts(rule)[0], result: false }]
}

function* reasons(rule: Rule, result: boolean, value: Value): Generator<ConditionTrace, void> {
  if (!isOperation(rule)) {
    yield { rule: 'literal', result }
    return
  }
  const [operator, operands] = parts(rule)
  switch (operator) {
    case 'and':
    case 'or':
      for (const operand of operands) if (truth(operand, value) === result) yield* reasons(operand, result, value)
      break
    case '!':
    case '!!':
      yield* negation(operator, operands, result, value)
      break
    case 'if':
      yield* choice(operands, result, value)
      break
    case 'missing':
    case 'missing_some':
      yield* missing(operator, rule, result, value)
      break
    case 'some':
    case 'none':
    case 'all':
      yield { rule: operator, ...pathOf(listOf(operands[0])), result }
      break
    case 'var':
      yield { rule: operator, ...found(rule, value), result }
      break
    default:
      yield { rule: operator, ...compared(operator, operands, value), result }
  }
}

function* negation(
  operator: '!' | '!!',
  [operand]: readonly Rule[],
  result: boolean,
  value: Value,
): Generator<ConditionTrace, void> {
  if (operand === undefined) return
  if (isVariable(operand)) {
    yield { rule: operator, ...found(operand, value), result }
    return
  }
  yield { rule: operator, result }
  if (isOperation(operand)) yield* reasons(operand, operator === '!' ? !result : result, value)
}

/** Yields the conditions up to the branch that was taken, and that branch. */
function* choice(operands: readonly Rule[], result: boolean, value: Value): Generator<ConditionTrace, void> {
  let index = 0
  for (; index + 1 < operands.length; index += 2) {
    const condition = operands[index] ?? null
    const holds = truth(condition, value)
    if (holds === undefined) return
    yield* reasons(condition, holds, value)
    if (!holds) continue
    index += 1
    break
  }
  const branch = operands[index] ?? null
  if (isOperation(branch)) yield* reasons(branch, result, value)
  else yield { rule: 'if', result }
}

function* missing(
  operator: string,
  rule: RuleOperation,
  result: boolean,
  value: Value,
): Generator<ConditionTrace, void> {
  const paths = result ? attempt(rule, value) : []
  if (!Array.isArray(paths) || paths.length === 0) {
    yield { rule: operator, result }
    return
  }
  for (const path of paths) if (typeof path === 'string') yield { rule: operator, path, result }
}

function compared(operator: string, operands: readonly Rule[], value: Value): Partial<ConditionTrace> {
  const [left, right] = operands
  if (!COMPARISONS.has(operator) || operands.length !== 2 || left === undefined || right === undefined) return {}
  const variable = isVariable(left) ? left : right
  const expected = literal(variable === left ? right : left)
  return isVariable(variable) && expected !== undefined ? { expected, ...found(variable, value) } : {}
}

/** Path and value of a variable; the value only if it is a scalar of the event's data, because attributes of recipients are private. */
function found(variable: RuleOperation, value: Value): { readonly path?: string; readonly actual?: JsonValue } {
  const { path } = pathOf(variable)
  if (path === undefined) return {}
  const actual = path.startsWith('data.') ? scalar(attempt(variable, value)) : undefined
  return actual === undefined ? { path } : { path, actual }
}

function truth(rule: Rule, value: Value): boolean | undefined {
  const result = attempt(rule, value)
  return result === undefined ? undefined : truthy(result)
}

/** Returns `undefined` if the rule throws; no rule evaluates to `undefined`. */
function attempt(rule: Rule, value: Value): unknown {
  try {
    return value(rule) ?? null
  } catch {
    return undefined
  }
}

function isOperation(rule: Rule): rule is RuleOperation {
  return typeof rule === 'object' && rule !== null && !Array.isArray(rule)
}

function isVariable(rule: Rule): rule is RuleOperation {
  return isOperation(rule) && rule.var !== undefined
}

function parts(operation: RuleOperation): readonly [operator: string, operands: readonly Rule[]] {
  return Object.entries(operation)[0] ?? ['literal', []]
}

function listOf(rule: Rule | undefined): Rule | undefined {
  return rule !== undefined && isOperation(rule) ? rule.list?.[0] : undefined
}

function pathOf(rule: Rule | undefined): { readonly path?: string } {
  const path = rule !== undefined && isOperation(rule) ? rule.var?.[0] : undefined
  return typeof path === 'string' ? { path } : {}
}

function literal(rule: Rule): JsonValue | undefined {
  if (isOperation(rule)) return undefined
  if (!Array.isArray(rule)) return scalar(rule)
  const items = rule.map(literal)
  return items.some((item) => item === undefined) ? undefined : items.filter((item) => item !== undefined)
}

function scalar(value: unknown): Literal | undefined {
  if (typeof value === 'string') return shorten(value)
  if (value === null || typeof value === 'boolean') return value
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Cuts a text, but no surrogate pair: databases refuse half of one. */
function shorten(text: string): string {
  if (text.length <= MAX_LENGTH) return text
  const last = text.charCodeAt(MAX_LENGTH - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_LENGTH - 1 : MAX_LENGTH)
}

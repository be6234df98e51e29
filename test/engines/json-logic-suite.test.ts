import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { jsonLogic } from '../../src/engines/json-logic.ts'
import type { JsonValue } from '../../src/model/json.ts'

const SUITE = '../shared/data/json-logic.json'

interface OfficialCase {
  readonly description: string
  readonly rule: JsonValue
  readonly data?: JsonValue
  readonly result?: JsonValue
  readonly error?: JsonValue
}

const all: readonly OfficialCase[] = existsSync(SUITE)
  ? JSON.parse(readFileSync(SUITE, 'utf8')).filter((one: unknown) => typeof one === 'object')
  : []

/** Operators whose operands read elements of a list: paths in them stay as they are. */
const IN_LISTS = ['some', 'none', 'all', 'map', 'filter', 'reduce']

/** The rule with its paths below `data`, where events have theirs. */
function placed(rule: JsonValue): JsonValue {
  if (Array.isArray(rule)) return rule.map(placed)
  if (typeof rule !== 'object' || rule === null) return rule
  return Object.fromEntries(
    Object.entries(rule).map(([operator, operands]) => {
      if (operator === 'var') return [operator, withFirst(operands as JsonValue, below)]
      if (operator === 'missing_some') return [operator, withLast(operands as JsonValue)]
      if (operator === 'missing') return [operator, [operands].flat(2).map((path) => below(path as JsonValue))]
      if (IN_LISTS.includes(operator)) return [operator, withFirst(operands as JsonValue, placed)]
      return [operator, placed(operands as JsonValue)]
    }),
  )
}

function withFirst(operands: JsonValue, change: (first: JsonValue) => JsonValue): JsonValue {
  if (!Array.isArray(operands)) return change(operands)
  const [first = '', ...rest] = operands
  return [change(first), ...rest]
}

function withLast(operands: JsonValue): JsonValue {
  const [needed = 0, paths] = [operands].flat()
  return [needed, [paths ?? []].flat().map((path) => below(path))]
}

function below(path: JsonValue): JsonValue {
  if (typeof path === 'object' && path !== null) return path
  return path === '' || path === null ? 'data' : `data.${path}`
}

const isScalar = (value: JsonValue | undefined): boolean => typeof value !== 'object' || value === null

/** `same`, or what happened instead. */
function compare({ rule, data = null, result }: OfficialCase): string {
  const asked = isScalar(result) ? { '===': [placed(rule), result ?? null] } : placed(rule)
  const condition = jsonLogic().compile(asked)
  if (typeof condition !== 'function') return `refused: ${condition.fault}`
  const decision = condition({ data, recipient: { id: 'u' } })
  if (decision.outcome === 'error') return `error: ${decision.detail}`
  const expected = isScalar(result) ? true : Array.isArray(result) ? result.length > 0 : true
  return decision.outcome === String(expected) ? 'same' : 'other'
}

/** Rules of the suite that are refused at start, with the reason for it and their number. */
const REFUSED: readonly (readonly [fault: RegExp, why: string, count: number])[] = [
  [/^refused: The operator "(?:map|filter|reduce|merge)" is not available/, 'a condition builds no lists', 23],
  [/^refused: A rule is an operation/, 'a condition is no list', 2],
  [/^refused: "(?:if|missing)" takes \d or more operands/, 'an operand was probably forgotten', 5],
  [/^refused: A path is a literal string/, 'a path that is computed cannot be checked at start', 3],
]

describe.skipIf(all.length === 0 && `${SUITE} is absent`)('the official suite of JSON Logic', () => {
  const outcomes = all.map((one) => ({ rule: one.rule, outcome: compare(one) }))
  const deviating = outcomes.filter(({ outcome }) => outcome !== 'same')

  it('Every rule that is not refused gives the official result', () => {
    expect(deviating.filter(({ outcome }) => !outcome.startsWith('refused: '))).toEqual([])
    expect(outcomes.length - deviating.length).toBe(245)
  })

  it('Every refused rule has a listed reason', () => {
    for (const [fault, why, count] of REFUSED)
      expect([why, deviating.filter(({ outcome }) => fault.test(outcome)).length]).toEqual([why, count])
    expect(deviating).toHaveLength(33)
  })
})

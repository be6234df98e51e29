import { isRecord } from '../options/read-options.ts'

/** Whether a name, in lower case, is meant. */
export type Matches = (name: string) => boolean

/** Deepest nesting of `and` and `or`. */
const MAX_DEPTH = 8

/**
 * Compiles the match logic of `genai-prices`: `equals starts_with ends_with contains regex and or`. `undefined`: it is not understood,
 * or an expression that could take more than quadratic time, because callers choose the names of models.
 */
export function compileMatch(logic: unknown, depth = 0): Matches | undefined {
  if (!isRecord(logic) || depth > MAX_DEPTH) return undefined
  const [[kind, operand] = [], ...more] = Object.entries(logic)
  if (more.length > 0) return undefined
  if (kind === 'and' || kind === 'or') return compileAll(kind, operand, depth)
  if (typeof operand !== 'string') return undefined
  if (kind === 'regex') return compileRegex(operand)
  const text = operand.toLowerCase()
  switch (kind) {
    case 'equals':
      return (name) => name === text
    case 'starts_with':
      return (name) => name.startsWith(text)
    case 'ends_with':
      return (name) => name.endsWith(text)
    case 'contains':
      return (name) => name.includes(text)
    default:
      return undefined
  }
}

function compileAll(kind: 'and' | 'or', operands: unknown, depth: number): Matches | undefined {
  if (!Array.isArray(operands)) return undefined
  const all = operands.map((operand) => compileMatch(operand, depth + 1))
  const known = all.filter((matches) => matches !== undefined)
  if (known.length < all.length) return undefined
  return kind === 'and'
    ? (name) => known.every((matches) => matches(name))
    : (name) => known.some((matches) => matches(name))
}

/** Escapes, character classes, and the kinds of groups: they hold no quantifiers. */
const ATOMS = /\\.|\[(?:\\.|[^\]\\])*\]/g
const GROUP_KINDS = /\(\?(?:[:=!]|<[=!]|<\w+>)/g
/** Quantifiers of a variable number of repetitions, or of a group. */
const VARIABLE = /[*+]|\{\d+,\d*\}/g
const OF_GROUP = /\)[*+{]/
const MAX_REGEX = 200
/** Most ways to choose alternatives and options, each of which may be tried at every place of a name. */
const MAX_WAYS = 500
/** Longest name that an expression is tried on: the longest model of a run. */
const MAX_NAME = 200

function compileRegex(source: string): Matches | undefined {
  if (source.length > MAX_REGEX || !isBounded(source.replace(ATOMS, 'x').replace(GROUP_KINDS, '('))) return undefined
  try {
    const regex = new RegExp(source)
    return (name) => name.length <= MAX_NAME && regex.test(name)
  } catch {
    return undefined
  }
}

/** Whether an expression takes at most quadratic time, times {@link MAX_WAYS}. */
function isBounded(expression: string): boolean {
  return !OF_GROUP.test(expression) && (expression.match(VARIABLE)?.length ?? 0) <= 1 && waysOf(expression) <= MAX_WAYS
}

/** The product of the alternatives of all groups, and of 2 for each option. */
function waysOf(expression: string): number {
  let ways = 1
  const open = [1]
  for (const char of `(${expression})`) {
    const alternatives = open.at(-1) ?? 1
    if (char === '|') open[open.length - 1] = alternatives + 1
    else if (char === '?') ways *= 2
    else if (char === '(') open.push(1)
    else if (char === ')') ways *= open.pop() ?? 1
  }
  return ways
}

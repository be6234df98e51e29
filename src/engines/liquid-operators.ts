import { type Context, Drop, defaultOperators, type LiquidOptions, toValue } from 'liquidjs'
import { charge, chargeSearch, checkTime, countKeys } from './liquid-rendering.ts'

type Operators = NonNullable<LiquidOptions['operators']>

/** Equality for `==`, `contains`, `case` and `where`. A drop (`nil`, `empty`, `blank`) has its own comparison. */
export function same(left: unknown, right: unknown, context: Context): unknown {
  if (left instanceof Drop || right instanceof Drop) {
    for (const side of [left, right]) charge(context, typeof side === 'string' ? side.length : 16 * countKeys(side))
    return defaultOperators['==']?.(left, right, context)
  }
  return sameValue(left, right, context)
}

/** Liquid's operators with bounded, charged work. Objects and lists have no order. */
export function boundedOperators(): Operators {
  return {
    ...defaultOperators,
    '==': (left, right, context: Context) => settled(same(left, right, context), context, true),
    '!=': (left, right, context: Context) => settled(same(left, right, context), context, false),
    contains: (list, item, context: Context) => contains(toValue(list), toValue(item), context),
    '<': ordered('<'),
    '<=': ordered('<='),
    '>': ordered('>'),
    '>=': ordered('>='),
  }
}

type Operator = Operators[string]

function settled(outcome: unknown, context: Context, wanted: boolean): boolean | Generator<unknown, boolean> {
  checkTime(context)
  return typeof outcome === 'boolean' ? outcome === wanted : settledLater(outcome, wanted)
}

function* settledLater(outcome: unknown, wanted: boolean): Generator<unknown, boolean> {
  return Boolean(yield outcome) === wanted
}

function ordered(name: string): Operator {
  return (left: unknown, right: unknown, context: Context) => {
    checkTime(context)
    if (typeof left === 'string' && typeof right === 'string') charge(context, left.length / 32)
    return hasOrder(left) && hasOrder(right) ? (defaultOperators[name]?.(left, right, context) ?? false) : false
  }
}

function hasOrder(value: unknown): boolean {
  return value === null || typeof value !== 'object' || value instanceof Drop
}

function contains(list: unknown, item: unknown, context: Context): boolean {
  checkTime(context)
  if (Array.isArray(list)) return list.some((element) => sameValue(element, item, context))
  if (typeof list !== 'string' || (typeof item !== 'string' && typeof item !== 'number')) return false
  chargeSearch(context, list, String(item))
  return list.includes(String(item))
}

function sameValue(left: unknown, right: unknown, context: Context): boolean {
  charge(context, 4 + (typeof left === 'string' && typeof right === 'string' ? left.length / 32 : 0))
  if (left === right || !Array.isArray(left) || !Array.isArray(right)) return left === right
  return left.length === right.length && left.every((item, index) => sameValue(item, right[index], context))
}

import { toValue, toValueSync } from 'liquidjs'
import { same } from './liquid-operators.ts'
import { charge, checkTime, type Handler, RenderFault, shortNumber, toText } from './liquid-text.ts'

type Call = ThisParameterType<Handler>

const MAX_PATH = 200

/** The list filters that the library does not bound: a list can hold one big value many times over. */
export const LIST_FILTERS: Readonly<Record<string, Handler>> = {
  join(value: unknown, separator: unknown) {
    const between = separator === undefined ? ' ' : toText(separator, this.context)
    const texts = list(value, this).map((item) => {
      const text = toText(item, this.context)
      charge(this.context, text.length + between.length)
      return text
    })
    return texts.join(between)
  },
  map(value: unknown, property: unknown) {
    const path = segments(property)
    return list(value, this).map((item) => pick(item, path))
  },
  sort(value: unknown, property: unknown) {
    const path = property === undefined ? [] : segments(property)
    const keyed = list(value, this).map((item) => {
      const key = pick(item, path)
      charge(this.context, 32 * (typeof key === 'string' ? key.length + 1 : 1))
      return { item, key }
    })
    return keyed.sort((left, right) => compare(left.key, right.key)).map(({ item }) => item)
  },
  sum(value: unknown, property: unknown) {
    const path = property === undefined ? [] : segments(property)
    return list(value, this).reduce<number>((sum, item) => sum + shortNumber(pick(item, path) ?? 0), 0)
  },
  where(value: unknown, property: unknown, expected: unknown) {
    const path = segments(property)
    return list(value, this).filter((item) => {
      const found = pick(item, path) ?? null
      return expected === undefined
        ? found !== null && found !== false
        : toValueSync(same(found, expected, this.context))
    })
  },
}

function list(given: unknown, { context }: Call): readonly unknown[] {
  checkTime(context)
  const value: unknown = toValue(given)
  const items: readonly unknown[] = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]
  charge(context, 4 * items.length)
  return items
}

function segments(property: unknown): readonly string[] {
  if (typeof property !== 'string' || property.length > MAX_PATH)
    throw new RenderFault('a property is named by a short text')
  return property.split('.')
}

function pick(item: unknown, path: readonly string[]): unknown {
  let value = item
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/** Numbers and strings in their order, whatever else at the end. */
function compare(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0
  return rank(left) - rank(right)
}

function rank(value: unknown): number {
  return typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2
}

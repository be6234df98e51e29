import {
  type Expression,
  type Filter,
  isFalsy,
  type Liquid,
  type Scope,
  type Token,
  TypeGuards,
  toValue,
  toValueSync,
  type Value,
} from 'liquidjs'
import { ABSENT, type ClosureContext, charge, type Handler, type Loop } from './liquid-rendering.ts'

/** A compiled expression. Throws if the rendering cannot go on. */
export type Evaluate = (context: ClosureContext) => unknown

/** Thrown for what is not compiled. */
export const UNSUPPORTED: Error = new Error('only the library renders this')

/** Where an expression stands. */
export interface Place {
  readonly engine: Liquid
  /** Variables of the surrounding loops, outermost first. */
  readonly variables: readonly string[]
}

/** @param isLenient An absent variable is `null`. */
export function compileValue({ initial, filters }: Value, place: Place, isLenient = false): Evaluate {
  const first = compileExpression(initial, place, isLenient || filters[0]?.name === 'default')
  return filters.reduce((input, filter) => compileFilter(input, filter, place), first)
}

function compileFilter(input: Evaluate, filter: Filter, place: Place): Evaluate {
  const { engine } = place
  const handler = handlerOf(filter, engine)
  const args = filter.args.map((arg) => compileArgument(arg, place))
  const call = (context: ClosureContext, ...values: readonly unknown[]): unknown => {
    // No allowed filter reads its token.
    const self = { context, liquid: engine } as unknown as ThisParameterType<Handler>
    return toValueSync(handler.call(self, input(context), ...values))
  }
  const [first, second] = args
  if (!first) return call
  if (!second) return (context) => call(context, first(context))
  return (context) => call(context, ...args.map((arg) => arg(context)))
}

/** A filter of an output that has no name is the escape function. */
function handlerOf({ name }: Filter, { filters, options }: Liquid): Handler {
  const filter = filters[name] ?? options.outputEscape
  const handler = typeof filter === 'function' ? filter : filter?.handler
  if (!handler) throw UNSUPPORTED
  return handler
}

/** An option is an array of its name and its value. */
function compileArgument(arg: Filter['args'][number], place: Place): Evaluate {
  if (!Array.isArray(arg)) return compileToken(arg, place)
  const [option, token] = arg
  const value = compileToken(token, place)
  return (context) => [option, value(context)]
}

function compileExpression({ postfix }: Expression, { ...place }: Place, isLenient: boolean): Evaluate {
  const operands: Evaluate[] = []
  for (const token of postfix) {
    if (!TypeGuards.isOperatorToken(token)) operands.push(compileToken(token, place, isLenient))
    else operands.push(compileOperator(token.operator, operands, place))
  }
  const [result] = operands
  if (!result) throw UNSUPPORTED
  return result
}

function compileOperator(name: string, operands: Evaluate[], { engine }: Place): Evaluate {
  const right = operands.pop()
  if (!right) throw UNSUPPORTED
  if (name === 'not') return (context) => isFalsy(toValue(right(context)), context)
  const [left, operator] = [operands.pop(), engine.options.operators[name]]
  if (!left || !operator) throw UNSUPPORTED
  return (context) => toValueSync(operator(left(context), right(context), context))
}

/** Drops such as `empty` stay drops. */
export function compileToken(token: Token | undefined, place: Place, isLenient = false): Evaluate {
  if (!token) throw UNSUPPORTED
  if ('content' in token) return () => token.content
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable) throw UNSUPPORTED
  const [root, ...props] = token.props
  const name = root && 'content' in root ? root.content : undefined
  if (typeof name !== 'string' || SPECIAL.includes(name)) throw UNSUPPORTED
  if (name === 'forloop') return compileForloop(props, place)
  const depth = place.variables.lastIndexOf(name)
  const base: Evaluate =
    depth < 0 ? (context) => readField(scopeOf(context, name), name, context) : ({ loops }) => loops[depth]?.item
  return compilePath(base, props, place, isLenient)
}

/** `continue` is a register of a loop; fields of the others are computed. */
const SPECIAL: readonly unknown[] = ['continue', 'size', 'first', 'last']

function compilePath(base: Evaluate, props: readonly Token[], place: Place, isLenient: boolean): Evaluate {
  const absent = (context: ClosureContext): null => {
    charge(context, 100)
    if (isLenient) return null
    throw ABSENT
  }
  if (props.every(isFieldName)) {
    const names = props.map(({ content }) => content)
    return (context) => {
      let value = base(context)
      for (const name of names) {
        if (value === undefined) break
        value = readField(value, name, context)
      }
      return value === undefined ? absent(context) : value
    }
  }
  const keys = props.map((prop) => compileToken(prop, place))
  return (context) => {
    const found = keys.map((key) => toValue(key(context)))
    let value = base(context)
    for (const key of found) {
      if (value === undefined) break
      value = context.readProperty(value as Scope, key as string | number)
    }
    return value === undefined ? absent(context) : value
  }
}

type FieldName = Token & { readonly content: string }

function isFieldName(prop: Token): prop is FieldName {
  return 'content' in prop && typeof prop.content === 'string' && !SPECIAL.includes(prop.content)
}

function scopeOf(context: ClosureContext, name: string): unknown {
  const assigned = context.bottom()
  return name in assigned ? assigned : context.environments
}

function readField(value: unknown, name: string, context: ClosureContext): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : context.readProperty(value as Scope, name)
}

const FORLOOP: Readonly<Record<string, (loop: Loop) => unknown>> = {
  index: ({ index }) => index + 1,
  index0: ({ index }) => index,
  rindex: ({ index, length }) => length - index,
  rindex0: ({ index, length }) => length - index - 1,
  first: ({ index }) => index === 0,
  last: ({ index, length }) => index === length - 1,
  length: ({ length }) => length,
}

function compileForloop(props: readonly Token[], { variables }: Place): Evaluate {
  const [prop, ...more] = props
  const field = prop && 'content' in prop && typeof prop.content === 'string' ? FORLOOP[prop.content] : undefined
  const depth = variables.length - 1
  if (!field || more.length > 0 || depth < 0) throw UNSUPPORTED
  return ({ loops }) => {
    const loop = loops[depth]
    return loop && field(loop)
  }
}

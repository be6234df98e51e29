import {
  AssignTag,
  BreakTag,
  CaptureTag,
  CaseTag,
  CommentTag,
  ContinueTag,
  ForTag,
  IfTag,
  InlineCommentTag,
  isTruthy,
  type Liquid,
  Output,
  type RangeToken,
  RawTag,
  type Template,
  type Token,
  TypeGuards,
  toValue,
  toValueSync,
  UnlessTag,
  Value,
} from 'liquidjs'
import { compileToken, compileValue, type Evaluate, type Place, UNSUPPORTED } from './liquid-expressions.ts'
import { same } from './liquid-operators.ts'
import {
  type ClosureContext,
  charge,
  checkTime,
  countKeys,
  type Loop,
  RenderedText,
  TextEmitter,
} from './liquid-rendering.ts'
import { ELEMENT, IterationCharge } from './liquid-tags.ts'

/** Renders a part of a template. Throws if the library has to render the whole again. */
export type Render = (context: ClosureContext) => void

/**
 * Compiles a parsed template to closures, which render the same text with the same limits much sooner. Returns `undefined` for what
 * only the library renders, such as `cycle`.
 */
export function compileToClosures(templates: readonly Template[], engine: Liquid): Render | undefined {
  try {
    return compileBlock(templates, { engine, variables: [] })
  } catch (error) {
    if (error === UNSUPPORTED) return undefined
    throw error
  }
}

function compileBlock(templates: readonly Template[] = [], place: Place): Render {
  const parts = templates.map((template) => compilePart(template, place))
  const [only, ...more] = parts
  if (only && more.length === 0) return only
  return (context) => {
    for (const part of parts) {
      part(context)
      if (context.breakCalled || context.continueCalled) return
    }
  }
}

function compilePart(template: Template, place: Place): Render {
  if (TypeGuards.isHTMLToken(template.token)) return write(template.token.getContent())
  if (template instanceof Output) {
    const text = compileValue(template.value, place)
    return (context) => context.emitter.write(toValue(text(context)))
  }
  if (template instanceof IfTag || template instanceof UnlessTag) return compileIf(template, place)
  if (template instanceof ForTag) return compileFor(template, place)
  if (template instanceof CaseTag) return compileCase(template, place)
  if (template instanceof AssignTag) return compileAssign(template, place)
  if (template instanceof CaptureTag) return compileCapture(template, place)
  if (template instanceof IterationCharge) return (context) => charge(context, template.cost)
  if (template instanceof RawTag) return write(template.render())
  if (template instanceof CommentTag || template instanceof InlineCommentTag) return write('')
  if (template instanceof BreakTag || template instanceof ContinueTag)
    return (context) => template.render(context, context.emitter)
  throw UNSUPPORTED
}

function write(text: string): Render {
  return ({ emitter }) => emitter.write(text)
}

function compileIf({ branches, elseTemplates }: IfTag | UnlessTag, place: Place): Render {
  const compiled = branches.map((branch) => ({
    test: 'test' in branch ? branch.test : isTruthy,
    value: compileValue(branch.value, place, true),
    render: compileBlock(branch.templates, place),
  }))
  const otherwise = compileBlock(elseTemplates, place)
  return (context) => {
    for (const { test, value, render } of compiled) if (test(value(context), context)) return render(context)
    return otherwise(context)
  }
}

function compileCase({ value, branches, elseTemplates }: CaseTag, place: Place): Render {
  const target = compileValue(value, place, true)
  const compiled = branches.map(({ values, templates }) => ({
    values: values.map((token) => compileToken(token, place, true)),
    render: compileBlock(templates, place),
  }))
  const otherwise = compileBlock(elseTemplates, place)
  return (context) => {
    const wanted = toValue(target(context))
    const isWanted = (read: Evaluate): boolean => {
      checkTime(context)
      return Boolean(toValueSync(same(wanted, read(context), context)))
    }
    let isFound = false
    for (const { values, render } of compiled) {
      if (!values.some(isWanted)) continue
      render(context)
      isFound = true
    }
    if (!isFound) otherwise(context)
  }
}

function compileFor(tag: ForTag, place: Place): Render {
  if (tag.variable === 'forloop') throw UNSUPPORTED
  const depth = place.variables.length
  const { collection } = tag
  const list = TypeGuards.isRangeToken(collection) ? compileRange(collection, place) : compileList(collection, place)
  const modify = compileModifiers(tag, place)
  const body = compileBlock(tag.templates, { ...place, variables: [...place.variables, tag.variable] })
  const otherwise = compileBlock(tag.elseTemplates, place)
  return (context) => {
    const all = list(context)
    if (all.length === 0) return otherwise(context)
    const items = modify(all, context)
    const loop: Loop = { item: undefined, index: 0, length: items.length }
    context.loops[depth] = loop
    for (const item of items) {
      loop.item = item
      endInterruption(context)
      body(context)
      if (context.breakCalled) break
      loop.index += 1
    }
    endInterruption(context)
  }
}

function endInterruption(context: ClosureContext): void {
  context.breakCalled = false
  context.continueCalled = false
}

type List = (context: ClosureContext) => readonly unknown[]

function compileRange({ lhs, rhs }: RangeToken, place: Place): List {
  const [low, high] = [compileToken(lhs, place), compileToken(rhs, place)]
  return (context) => {
    const [first, last] = [Number(toValue(low(context))), Number(toValue(high(context)))]
    charge(context, (ELEMENT + 1) * (last - first + 1))
    const numbers: number[] = []
    for (let number = first; number < last + 1; number += 1) numbers.push(number)
    return numbers
  }
}

/** An object is a list of its names with their values. */
function compileList(token: Token, place: Place): List {
  const value = compileToken(token, place)
  return (context) => {
    const found = toValue(value(context))
    charge(context, ELEMENT * countKeys(found))
    if (Array.isArray(found)) return found
    if (typeof found === 'object' && found !== null) return Object.entries(found)
    return typeof found === 'string' && found !== '' ? [found] : []
  }
}

type Modify = (items: readonly unknown[], context: ClosureContext) => readonly unknown[]

function compileModifiers({ hash: { hash } }: ForTag, place: Place): Modify {
  const names = Object.keys(hash)
  if (names.length === 0) return (items) => items
  const values = names.map((name) => (hash[name] === undefined ? () => true : compileToken(hash[name], place)))
  return (items, context) => {
    const given = Object.fromEntries(names.map((name, index) => [name, values[index]?.(context)]))
    const { offset, limit, reversed } = given as { offset?: number; limit?: number; reversed?: unknown }
    const cut = items.slice(offset).slice(0, limit)
    return reversed === undefined ? cut : cut.reverse()
  }
}

function compileAssign(tag: AssignTag, place: Place): Render {
  const [value] = tag.arguments()
  const [name] = tag.localScope()
  if (!(value instanceof Value) || !name) throw UNSUPPORTED
  const assigned = compileValue(value, place)
  return (context) => {
    context.bottom()[name.content] = assigned(context)
  }
}

function compileCapture({ templates, variable }: CaptureTag, place: Place): Render {
  const block = compileBlock(templates, place)
  return (context) => {
    const outer = context.emitter
    context.emitter = new TextEmitter()
    block(context)
    const text = context.emitter.buffer
    context.emitter = outer
    charge(context, text.length)
    context.bottom()[variable] = new RenderedText(text)
  }
}

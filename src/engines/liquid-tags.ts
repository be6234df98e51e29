import * as liquidjs from 'liquidjs'
import {
  type Context,
  type Emitter,
  evalToken,
  evalTokenValue,
  type Liquid,
  type Parser,
  type TagToken,
  type Template,
  type TopLevelToken,
  TypeGuards,
  toValue,
  Value,
} from 'liquidjs'
import { same } from './liquid-operators.ts'
import { charge, checkTime, countKeys, RenderedText, TextEmitter } from './liquid-rendering.ts'

/** Charge for an element of a collection. */
export const ELEMENT = 16
const ITERATION = 64

type Tags = Liquid['tags']

/** Differs from the library's tag: an absent variable is missing here, because later it would look like an empty one. */
class AssignTag extends liquidjs.AssignTag {
  override *render(ctx: Context): Generator<unknown, void, unknown> {
    const [value] = this.arguments()
    const [name] = this.localScope()
    if (value instanceof Value && name) ctx.bottom()[name.content] = yield value.value(ctx, false)
  }
}

/** Differs from the library's tag: the captured text is limited, charged (including static text) and not escaped again. */
class CaptureTag extends liquidjs.CaptureTag {
  override *render(ctx: Context): Generator<unknown, void, string> {
    const text = yield this.liquid.renderer.renderTemplates(this.templates, ctx, new TextEmitter())
    charge(ctx, text.length)
    ctx.bottom()[this.variable] = new RenderedText(text)
  }
}

/** Differs from the library's tag: charges comparisons. */
class CaseTag extends liquidjs.CaseTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const { renderer } = this.liquid
    const target = toValue(yield this.value.value(ctx, true))
    let hit = false
    for (const branch of this.branches) {
      for (const value of branch.values) {
        checkTime(ctx)
        if (!(yield same(target, yield evalToken(value, ctx, true), ctx))) continue
        yield renderer.renderTemplates(branch.templates, ctx, emitter)
        hit = true
        break
      }
    }
    if (!hit) yield renderer.renderTemplates(this.elseTemplates, ctx, emitter)
  }
}

/** Charges an iteration of a loop for its source. */
export class IterationCharge implements Template {
  readonly token: TagToken
  readonly cost: number

  constructor(token: TagToken, cost: number) {
    this.token = token
    this.cost = cost
  }

  render(ctx: Context): void {
    charge(ctx, this.cost)
  }
}

/** Differs from the library's tag: charges each iteration for its source, and listing a collection. */
class ForTag extends liquidjs.ForTag {
  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    const tokens = [...remaining]
    super(token, remaining, liquid, parser)
    const body = tokens.slice(0, tokens.length - remaining.length)
    const cost = body.reduce(
      (sum, part) => sum + (TypeGuards.isHTMLToken(part) ? 4 : 4 * (part.end - part.begin)),
      ITERATION,
    )
    this.templates.unshift(new IterationCharge(token, cost))
  }

  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, Template[]> {
    const { collection } = this
    if (TypeGuards.isRangeToken(collection)) {
      const [low, high] = [yield evalTokenValue(collection.lhs, ctx), yield evalTokenValue(collection.rhs, ctx)]
      charge(ctx, ELEMENT * (Number(high) - Number(low) + 1))
    } else {
      charge(ctx, ELEMENT * countKeys(yield evalToken(collection, ctx)))
    }
    yield* super.render(ctx, emitter)
  }
}

/** The tags that templates may use. None reads a file or keeps state between renderings. */
export const ALLOWED_TAGS: Tags = {
  assign: AssignTag,
  capture: CaptureTag,
  case: CaseTag,
  if: liquidjs.IfTag,
  unless: liquidjs.UnlessTag,
  for: ForTag,
  break: liquidjs.BreakTag,
  continue: liquidjs.ContinueTag,
  cycle: liquidjs.CycleTag,
  comment: liquidjs.CommentTag,
  raw: liquidjs.RawTag,
  '#': liquidjs.InlineCommentTag,
}

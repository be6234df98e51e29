import { type Liquid, LiquidError, type Template, TypeGuards, UndefinedVariableError } from 'liquidjs'
import type { CompiledTemplate, Rendering, TemplateFacts } from '../ports/template-engine.ts'
import { compileToClosures, type Render } from './liquid-closures.ts'
import { readsOf } from './liquid-reads.ts'
import {
  ABSENT,
  ClosureContext,
  OneSlice,
  PlainContext,
  RenderFault,
  RenderInSlices,
  TextEmitter,
} from './liquid-rendering.ts'

export function compileTemplate(engine: Liquid, templates: Template[]): CompiledTemplate {
  const closures = compileToClosures(templates, engine)
  const render = (facts: TemplateFacts): Rendering | Promise<Rendering> => {
    const since = performance.now()
    const text = closures && renderAtOnce(closures, engine, facts, since)
    return text === undefined ? renderInSlices(templates, engine, facts, since) : { outcome: 'rendered', text }
  }
  return Object.assign(render, { reads: readsOf(templates) })
}

/** Returns `undefined` if the library has to render: it reports faults, and continues in another time slice. */
function renderAtOnce(render: Render, engine: Liquid, facts: TemplateFacts, since: number): string | undefined {
  const context = new ClosureContext(facts, engine, new OneSlice(since))
  try {
    render(context)
    return context.emitter.buffer
  } catch {
    return undefined
  }
}

function renderInSlices(
  templates: Template[],
  engine: Liquid,
  facts: TemplateFacts,
  since: number,
): Rendering | Promise<Rendering> {
  const emitter = new TextEmitter()
  const work = new RenderInSlices((renderLimit) => {
    const context = new PlainContext(facts, engine.options, { sync: true }, { liquid: engine, renderLimit })
    return engine.renderer.renderTemplates(templates, context, emitter)
  })
  return runSlice(work, emitter, since) ?? runSlices(work, emitter)
}

/** Returns `undefined` until the rendering is done. */
function runSlice(work: RenderInSlices, emitter: TextEmitter, since = performance.now()): Rendering | undefined {
  try {
    return work.runSlice(since) ? { outcome: 'rendered', text: emitter.buffer } : undefined
  } catch (error) {
    return failure(error)
  }
}

async function runSlices(work: RenderInSlices, emitter: TextEmitter): Promise<Rendering> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve))
    const rendering = runSlice(work, emitter)
    if (rendering) return rendering
  }
}

function failure(error: unknown): Rendering {
  if (error instanceof UndefinedVariableError && error.originalError === ABSENT) {
    return { outcome: 'missing', path: pathOf(error) }
  }
  if (!LiquidError.is(error)) return { outcome: 'error', ...reason(error) }
  const [line, column] = error.token.getPosition()
  const { detail, ...rest } = reason(error.originalError)
  return { outcome: 'error', detail: `${detail} (line ${line}, column ${column})`, ...rest }
}

/** The detail quotes only messages that contain no value of the facts. */
function reason(error: unknown): Omit<Extract<Rendering, { outcome: 'error' }>, 'outcome'> {
  if (error instanceof RenderFault) return { detail: error.message }
  const message = error instanceof Error ? error.message : ''
  if (message === 'memory alloc limit exceeded') return { detail: 'the rendering works on too much data' }
  return { detail: 'the template could not be rendered', cause: error }
}

/** The path as written in the template: does not repeat an index that was computed from facts. */
function pathOf({ token }: UndefinedVariableError): string {
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return token.getText()
  const names = token.props.map((prop) => ('content' in prop ? String(prop.content) : undefined))
  return names.includes(undefined) ? token.getText() : names.join('.')
}

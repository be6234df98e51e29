import { type JsonValue, toJson } from '../../../model/json.ts'
import { ignoreRejection } from '../../../model/thrown.ts'
import type { EventFacts, FieldRendering } from '../../../ports/event-catalog.ts'
import type { CompiledTemplate, Rendering } from '../../../ports/template-engine.ts'
import type { CatalogPlace, Compilation, OpenFacts } from './compilation.ts'
import type { ChannelDefinition } from './event-definition.ts'

/** Renders one field of a message. */
export type FieldRenderer = (facts: EventFacts) => FieldRendering | Promise<FieldRendering>

type FieldDefinition = ChannelDefinition<unknown>[string]

/** Compiles the template of each field; one that is `undefined` is left out. */
export function compileTemplates(
  definitions: Readonly<Record<string, FieldDefinition>>,
  place: (field: string) => CatalogPlace,
  compilation: Compilation,
): ReadonlyMap<string, FieldRenderer> {
  const renderers = new Map<string, FieldRenderer>()
  for (const [field, definition] of Object.entries(definitions)) {
    if (definition === undefined) continue
    const renderer = compileTemplate(definition, field === 'html' ? 'html' : 'none', place(field), compilation)
    if (renderer) renderers.set(field, renderer)
  }
  return renderers
}

function compileTemplate(
  definition: FieldDefinition,
  escaping: 'html' | 'none',
  place: CatalogPlace,
  { engines: { templates }, problems }: Compilation,
): FieldRenderer | undefined {
  if (typeof definition === 'function') return (facts) => call(definition, facts)
  if (typeof definition !== 'string') {
    problems.push({ ...place, detail: 'is neither a string nor a function' })
    return undefined
  }
  if (!templates) {
    const detail = "is a string template: pass { templates: liquid() } with liquid from 'sallyport/liquid'"
    problems.push({ ...place, detail })
    return undefined
  }
  if (typeof templates.compile !== 'function') return undefined
  const compiled = templates.compile(definition, escaping)
  if (typeof compiled === 'function') return (facts) => render(compiled, facts)
  const { fault, ...position } = compiled
  problems.push({ ...place, ...position, detail: fault })
  return undefined
}

function render(template: CompiledTemplate, facts: OpenFacts): FieldRendering | Promise<FieldRendering> {
  const rendering = template(facts)
  return 'then' in rendering ? rendering.then(asField) : asField(rendering)
}

function asField(rendering: Rendering): FieldRendering {
  if (rendering.outcome === 'rendered') return rendered(rendering.text)
  return rendering.outcome === 'error' ? { ...rendering, isLibrary: true } : rendering
}

function call(template: (facts: EventFacts) => unknown, facts: EventFacts): FieldRendering {
  try {
    const given = template(facts)
    ignoreRejection(given)
    const value = toJson(given)
    return value === undefined
      ? { outcome: 'error', detail: 'the template function gave no JSON value' }
      : rendered(value)
  } catch (cause) {
    return { outcome: 'error', detail: 'the template function threw', cause }
  }
}

function rendered(value: JsonValue): FieldRendering {
  return { outcome: 'rendered', value }
}

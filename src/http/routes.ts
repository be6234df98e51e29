import type { Action, OpenAction } from '../core/endpoints.ts'

/** An action with parameters in its path. */
interface Template {
  readonly action: Action
  /** The path before its first parameter. */
  readonly start: string
  readonly parts: readonly string[]
}

/** Finds actions by the paths of requests. */
export interface Router {
  /** @param path Relative to the base path. `undefined`: no action has it. */
  find(path: string): Pick<ActionTarget, 'action' | 'parameters'> | OpenTarget | undefined
  /** Finds an action whose path ends this one, and what stands before it. */
  findEnd(path: string): { readonly prefix: string; readonly asked: string } | undefined
}

export function routerOf(actions: readonly Action[], open: readonly OpenAction[]): Router {
  const templates = actions.flatMap((action): Template[] => {
    const [start = '', ...parameters] = action.path.split('{')
    return parameters.length > 0 ? [{ action, start, parts: action.path.split('/') }] : []
  })
  const fixed = actions.filter(({ path }) => !path.includes('{'))
  const byPath = new Map(fixed.map((action) => [action.path, { action }]))

  function openTarget(path: string): OpenTarget | undefined {
    const found = open.find((each) => path.startsWith(each.path))
    const parameter = found && parameterOf(path.slice(found.path.length))
    return parameter === undefined ? undefined : { open: found as OpenAction, parameter }
  }

  return {
    find(path) {
      const found = byPath.get(path)
      if (found) return found
      for (const template of templates) {
        const parameters = parametersIn(template, path)
        if (parameters) return { action: template.action, parameters }
      }
      return openTarget(path)
    },
    findEnd(path) {
      const action = fixed.find((each) => path.endsWith(each.path))
      if (action) return { prefix: path.slice(0, -action.path.length), asked: action.path }
      for (const template of templates) {
        const at = path.lastIndexOf(template.start)
        if (at >= 0 && parametersIn(template, path.slice(at)))
          return { prefix: path.slice(0, at), asked: template.action.path }
      }
      for (const { path: start, parameter } of open) {
        const at = path.lastIndexOf(start)
        if (at < 0 || parameterOf(path.slice(at + start.length)) === undefined) continue
        return { prefix: path.slice(0, at), asked: start + parameter }
      }
      return undefined
    },
  }
}

/** Reads the parameters of a path; `undefined`: the template has another path. */
function parametersIn({ start, parts: names }: Template, path: string): Readonly<Record<string, string>> | undefined {
  if (!path.startsWith(start)) return undefined
  const parts = path.split('/')
  if (names.length !== parts.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [at, name] of names.entries()) {
    const part = parts[at] ?? ''
    if (!name.startsWith('{')) {
      if (name !== part) return undefined
      continue
    }
    const value = parameterOf(part)
    if (value === undefined) return undefined
    parameters[name.slice(1, -1)] = value
  }
  return parameters
}

const MAX_PARAMETER = 2_048

/** Decodes a parameter. `undefined`: no parameter, more than one part, too long, or a malformed escape. */
export function parameterOf(encoded: string): string | undefined {
  if (encoded === '' || encoded.length > MAX_PARAMETER || encoded.includes('/')) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

/** Path of the OpenAPI document, if a mount serves one. */
export const DOCUMENT_PATH = '/api/outbound/openapi.json'

export interface ActionTarget {
  readonly action: Action
  /** Query string, without its `?`. */
  readonly search: string
  /** Parameters of the path, decoded. Absent: the path has none. */
  readonly parameters?: Readonly<Record<string, string>>
}

export interface OpenTarget {
  readonly open: OpenAction
  /** Decoded. */
  readonly parameter: string
}

export type Target =
  | ActionTarget
  | OpenTarget
  /** JSON text of the OpenAPI document. */
  | { readonly document: string }

import type { Action } from '../core/endpoints.ts'
import type { ConfigProblem } from '../errors.ts'
import { OPERATIONS } from '../model/principal.ts'
import { bool, choice, fn, like, whole } from '../options/checks.ts'
import { type Checks, problemsAt, problemsIn, required } from '../options/read-options.ts'
import { shownName } from '../options/shown-value.ts'
import { configError, type NamedParts } from './plugin-parts.ts'

const ACTION: Checks<Action> = {
  name: required(like(/^[a-z][a-z0-9_]{0,63}$/, 'must be 1-64 of a-z 0-9 _', shownName)),
  method: required(choice(['GET', 'POST'])),
  path: required(
    like(/^(?:\/(?:[A-Za-z0-9._~-]+|\{\w+\}))+$/, 'must be a path such as /api/holidays/{day}', shownName),
  ),
  operation: required(choice(OPERATIONS)),
  maxBytes: required(whole(0, 1_048_576)),
  run: fn,
  waits: bool,
  console: bool,
  changed: fn,
  use: () => undefined,
}

/**
 * Joins the endpoints of plugins to those of the core.
 *
 * @throws {SallyportError} `config_invalid`: one is malformed, or has the name or the place of another.
 */
export function joinActions(core: readonly Action[], parts: readonly NamedParts[]): readonly Action[] {
  const problems: ConfigProblem[] = []
  const taken = new Map(core.flatMap((action) => placesOf(action).map((place) => [place, 'Sallyport itself'])))
  for (const { plugin, parts: each } of parts) {
    for (const [at, action] of (each.actions ?? []).entries()) {
      const field = `plugins.${plugin}.actions[${at}]`
      // Other members of a row, such as `call`, belong to the service that made it.
      const own = Object.fromEntries(Object.entries(Object(action)).filter(([name]) => Object.hasOwn(ACTION, name)))
      const found = problemsIn(Object(action) === action ? own : action, ACTION)
      problems.push(...problemsAt(field, found))
      if (found.length > 0) continue
      for (const place of placesOf(action)) {
        const owner = taken.get(place)
        if (owner !== undefined) problems.push({ field, detail: `${place} is an endpoint of ${owner} already` })
        taken.set(place, plugin)
      }
    }
  }
  if (problems.length > 0) throw configError(problems)
  return [...core, ...parts.flatMap(({ parts: { actions = [] } }) => actions)]
}

/** Its name, and its method and path without the names of parameters. */
function placesOf({ name, method, path }: Action): readonly string[] {
  return [name, `${method} ${path.replace(/\{\w+\}/g, '{}')}`]
}

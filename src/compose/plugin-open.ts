import { refusing } from '../core/answers/fault.ts'
import { isRefused } from '../core/answers/result.ts'
import type { Action, OpenAction } from '../core/endpoints.ts'
import type { ConfigProblem } from '../errors.ts'
import { arrayOf, choice, fn, like, text, whole } from '../options/checks.ts'
import { type Checks, problemsAt, problemsIn, required } from '../options/read-options.ts'
import { shownName } from '../options/shown-value.ts'
import { configError, type NamedParts } from './plugin-parts.ts'

const OPEN: Checks<OpenAction> = {
  name: required(like(/^[a-z][a-z0-9_]{0,63}$/, 'must be 1-64 of a-z 0-9 _', shownName)),
  methods: required(arrayOf(text)),
  path: required(
    like(/^(?:\/[A-Za-z0-9._~-]+)+\/$/, 'must be a path with a slash at its end: /api/holidays/', shownName),
  ),
  parameter: required(like(/^\{\w+\}$/, 'must be a name in braces, such as {token}', shownName)),
  maxBytes: required(whole(0, 1_048_576)),
  accepts: required(choice(['bytes', 'form', 'json'])),
  find: required(fn),
}

/** Errors become refusals. */
function withoutErrors(open: OpenAction): OpenAction {
  const find: OpenAction['find'] = async (parameter, head) => {
    const found = await refusing(() => open.find(parameter, head))
    if (!found || isRefused(found)) return found
    return { ...found, handle: (request) => refusing(() => found.handle(request)) }
  }
  return { ...open, find }
}

/**
 * Joins the open endpoints of all plugins. Their errors are answered as those of other endpoints.
 *
 * @param actions All other endpoints of the host.
 * @throws {SallyportError} `config_invalid`: one is malformed, or has the place of another endpoint.
 */
export function joinOpen(parts: readonly NamedParts[], actions: readonly Action[]): readonly OpenAction[] {
  const problems: ConfigProblem[] = []
  const taken = new Map(actions.map(({ path }) => [path.replace(/\{\w+\}/g, '{}'), 'another endpoint']))
  const all: OpenAction[] = []
  for (const { plugin, parts: each } of parts) {
    for (const [at, open] of (each.open ?? []).entries()) {
      const field = `plugins.${plugin}.open[${at}]`
      const found = problemsIn(open, OPEN)
      problems.push(...problemsAt(field, found))
      if (found.length > 0) continue
      const place = `${open.path}{}`
      const owner = taken.get(place)
      if (owner !== undefined) problems.push({ field, detail: `${place} is the path of ${owner} already` })
      taken.set(place, plugin)
      all.push(withoutErrors(open))
    }
  }
  if (problems.length > 0) throw configError(problems)
  return all
}

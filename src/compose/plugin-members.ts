import type { ConfigProblem } from '../errors.ts'
import { isRecord } from '../options/read-options.ts'
import { shownName } from '../options/shown-value.ts'
import { configError, type NamedParts } from './plugin-parts.ts'

/**
 * Joins members to those of the core. Members that are plain objects are joined one level deep.
 *
 * @throws {SallyportError} `config_invalid`: a name exists already.
 */
export function joinMembers<Members extends object>(own: Members, parts: readonly NamedParts[]): Members {
  const joined: Record<string, unknown> = Object.fromEntries(Object.entries(own))
  const owners = new Map<string, string>()
  const problems: ConfigProblem[] = []
  const takenBy = (name: string): string => owners.get(name) ?? 'Sallyport itself'
  const add = (into: Record<string, unknown>, path: string, name: string, value: unknown, plugin: string): void => {
    if (Object.hasOwn(into, name) || name === 'then') {
      const detail = name === 'then' ? 'would make it a promise' : `is a member of ${takenBy(path)} already`
      problems.push({ field: `plugins.${plugin}`, detail: `its member ${shownName(path)} ${detail}` })
      return
    }
    into[name] = value
    owners.set(path, plugin)
  }
  for (const { plugin, parts: each } of parts) {
    for (const [name, value] of Object.entries(each.api ?? {})) {
      const known = joined[name]
      if (!isJoinable(known) || !isJoinable(value)) {
        add(joined, name, name, value, plugin)
        continue
      }
      const both = { ...known }
      for (const [inner, member] of Object.entries(value)) add(both, `${name}.${inner}`, inner, member, plugin)
      joined[name] = both
    }
  }
  if (problems.length > 0) throw configError(problems)
  return joined as Members
}

function isJoinable(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype
}

import { inTime } from '../core/answers/in-time.ts'
import { askGuard } from '../core/message/ask-guard.ts'
import type { ConfigProblem } from '../errors.ts'
import { shownName } from '../options/shown-value.ts'
import type { Clock } from '../ports/clock.ts'
import type { LinkMaker, LinkMakers } from '../ports/link-maker.ts'
import type { MessageGuard } from '../ports/message-guard.ts'
import { ANSWER_MS, type NamedParts } from './plugin-parts.ts'

/** Asks the guards of all plugins in their order: the first objection holds. `undefined`: none has a guard. */
export function joinGuards(parts: readonly NamedParts[], clock: Pick<Clock, 'after'>): MessageGuard | undefined {
  const guards = parts.flatMap(({ plugin, parts: { guard } }) => {
    if (!guard) return []
    const of = `guard of the plugin ${plugin}`
    const check: MessageGuard['check'] = async (message) =>
      inTime(guard.check(message), `check() of the ${of}`, ANSWER_MS, clock)
    return [{ of, guard, check }]
  })
  if (guards.length === 0) return undefined
  const learning = guards.filter(({ guard }) => guard.learned)
  return {
    async check(message) {
      for (const { check, of } of guards) {
        const reason = await askGuard({ check }, message, of)
        if (reason !== undefined) return reason
      }
      return undefined
    },
    ...(learning.length > 0 && {
      async learned(message, about) {
        await Promise.all(
          learning.map(async ({ guard, of }) =>
            inTime(guard.learned?.(message, about), `learned() of the ${of}`, ANSWER_MS, clock),
          ),
        )
      },
    }),
  }
}

const LINK_NAME = /^[a-z][A-Za-z0-9]{0,31}$/

/** The links of all plugins, their names as `plugin.link`, and problems of their names. */
export function joinLinks(
  parts: readonly NamedParts[],
  clock: Pick<Clock, 'after'>,
): { readonly links?: LinkMakers; readonly names: readonly string[]; readonly problems: readonly ConfigProblem[] } {
  const owners = new Map<string, string>()
  const problems: ConfigProblem[] = []
  const makers = new Map<string, LinkMaker>()
  const names: string[] = []
  for (const { plugin, parts: each } of parts)
    for (const [name, make] of Object.entries(each.links ?? {})) {
      const field = `plugins.${plugin}.links`
      const report = (detail: string): unknown => problems.push({ field, detail: `${shownName(name)} ${detail}` })
      if (!LINK_NAME.test(name)) report('must be 1-32 letters and digits, a lower-case letter first')
      for (const [other, owner] of owners) {
        if (other === name) report(`is a link of ${owner} too`)
        else if (other.startsWith(name) || name.startsWith(other))
          report(`begins as the link ${other} of ${owner} does`)
      }
      owners.set(name, plugin)
      names.push(`${plugin}.${name}`)
      makers.set(name, (target) => inTime(make(target), `links.${name}() of the plugin ${plugin}`, ANSWER_MS, clock))
    }
  return { problems, names, ...(makers.size > 0 && { links: Object.fromEntries(makers) }) }
}

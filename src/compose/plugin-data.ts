import { inTime } from '../core/answers/in-time.ts'
import { isRecord } from '../options/read-options.ts'
import { wrongReturn } from '../options/wrong-return.ts'
import type { Clock } from '../ports/clock.ts'
import type { PluginData } from '../services/plugin-data.ts'
import type { NamedParts } from './plugin-parts.ts'

/** A page of 500 dispatches takes many reads. */
const VIEW_MS = 30_000

/** Joins the views of all plugins, and their data of recipients. Every method rejects with the error of a plugin. */
export function joinData(parts: readonly NamedParts[], clock: Pick<Clock, 'after'>): PluginData {
  const views = parts.flatMap(({ plugin, parts: { view } }) => (view?.deliveries ? [{ plugin, view }] : []))
  const keeping = parts.flatMap(({ plugin, parts: { recipient } }) => (recipient ? [{ plugin, recipient }] : []))
  return {
    ...(views.length > 0 && {
      async view(dispatches, shown) {
        const joined = new Map<string, object>()
        const all = await Promise.all(
          views.map(async ({ plugin, view }) => {
            const call = `view.deliveries() of the plugin ${plugin}`
            const given: unknown = await inTime(view.deliveries?.(dispatches, shown), call, VIEW_MS, clock)
            if (given instanceof Map) return given as ReadonlyMap<string, object>
            throw wrongReturn(call, given, 'a Map of further members by delivery id')
          }),
        )
        for (const added of all) for (const [id, more] of added) joined.set(id, { ...more, ...joined.get(id) })
        return joined
      },
    }),
    async exportOf(of) {
      const all = await Promise.all(
        keeping.map(async ({ plugin, recipient }) => {
          const given: unknown = await recipient.export(of)
          if (isRecord(given)) return [plugin, given] as const
          throw wrongReturn(`recipient.export() of the plugin ${plugin}`, given, 'an object, {} for nothing')
        }),
      )
      return Object.fromEntries(all.filter(([, given]) => Object.keys(given).length > 0))
    },
    async erase(of) {
      for (const { recipient } of keeping) await recipient.erase(of)
    },
    async prune(olderThanMs, tenant) {
      for (const { parts: each } of parts) await each.prune?.(olderThanMs, tenant)
    },
  }
}

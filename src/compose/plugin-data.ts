import { inTime } from '../core/answers/in-time.ts'
import type { TimelineList } from '../core/runs/sessions/timeline.ts'
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
  const runViews = parts.flatMap(({ plugin, parts: { view } }) => (view?.runs ? [{ plugin, view }] : []))
  const sessions = parts.flatMap(({ plugin, parts: { session } }) => (session ? [{ plugin, session }] : []))
  const awaiting = sessions.filter(({ session }) => session.isAwaited)
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
    ...(runViews.length > 0 && {
      async viewRuns(runs, shown) {
        const all = await Promise.all(
          runViews.map(async ({ plugin, view }) => {
            const call = `view.runs() of the plugin ${plugin}`
            const given: unknown = await inTime(view.runs?.(runs, shown), call, VIEW_MS, clock)
            if (Array.isArray(given) && given.length === runs.length) return given as readonly object[]
            throw wrongReturn(call, given, 'a list of further members, one object for each run')
          }),
        )
        return runs.map((_, at) => Object.assign({}, ...all.toReversed().map((added) => added[at])))
      },
    }),
    timelines: sessions.flatMap(({ plugin, session: { timeline } }): TimelineList[] =>
      timeline
        ? [
            async (query) => {
              const call = `session.timeline() of the plugin ${plugin}`
              const given: unknown = await inTime(timeline(query), call, VIEW_MS, clock)
              if (Array.isArray(Object(given).items)) return given as Awaited<ReturnType<TimelineList>>
              throw wrongReturn(call, given, '{ items, nextCursor? } with items of { id, at, view() }')
            },
          ]
        : [],
    ),
    ...(awaiting.length > 0 && {
      async isAwaited(run) {
        for (const { plugin, session } of awaiting) {
          const call = `session.isAwaited() of the plugin ${plugin}`
          if ((await inTime(session.isAwaited?.(run), call, VIEW_MS, clock)) === true) return true
        }
        return false
      },
    }),
    async eraseSession(of) {
      for (const { session } of sessions) await session.erase?.(of)
    },
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

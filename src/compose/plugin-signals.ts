import { inTime } from '../core/answers/in-time.ts'
import type { FaultDeps } from '../core/answers/report-fault.ts'
import type { RunChange, Signal, SignalPublisher } from '../core/runs/signal-outbox.ts'
import type { ConfigProblem } from '../errors.ts'
import { shownName } from '../options/shown-value.ts'
import { configError, type NamedParts, reportPlugin } from './plugin-parts.ts'

/** A plugin that needs longer is asked again later. */
const PUBLISH_MS = 30_000

/**
 * Joins the signals of all plugins. A plugin that throws in a merge raises none.
 *
 * @throws {SallyportError} `config_invalid`: two plugins have a signal of one name.
 */
export function joinSignals(all: readonly NamedParts[], deps: FaultDeps): { readonly run?: SignalPublisher } {
  const raising = all.flatMap(({ plugin, parts: { run } }) => (run ? [{ plugin, run }] : []))
  if (raising.length === 0) return {}
  const owners = new Map<string, (typeof raising)[number]>()
  const problems: ConfigProblem[] = []
  for (const one of raising)
    for (const name of Object.keys(one.run.names)) {
      const other = owners.get(name)
      if (other)
        problems.push({
          field: `plugins.${one.plugin}`,
          detail: `its signal ${shownName(name)} is one of ${other.plugin} too`,
        })
      owners.set(name, one)
    }
  if (problems.length > 0) throw configError(problems)
  const raise = ({ plugin, run }: (typeof raising)[number], change: RunChange): readonly Signal[] => {
    try {
      return run.signals(change).filter(({ name }) => owners.get(name)?.plugin === plugin)
    } catch (cause) {
      reportPlugin(cause, plugin, 'run.signals', deps)
      return []
    }
  }
  const { clock } = deps
  const [only] = raising
  return {
    run: {
      names: Object.assign({}, ...raising.map(({ run }) => run.names)),
      signals:
        only && raising.length === 1
          ? (change) => raise(only, change)
          : (change) => raising.flatMap((one) => raise(one, change)),
      async publish(run, signal) {
        const owner = owners.get(signal)
        try {
          const publishing = owner?.run.publish(run, signal)
          return (await inTime(publishing, 'publish()', PUBLISH_MS, clock)) === true
        } catch (cause) {
          reportPlugin(cause, owner?.plugin ?? '', 'run.publish', deps)
          return false
        }
      },
    },
  }
}

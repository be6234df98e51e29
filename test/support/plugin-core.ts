import { type FaultDeps, reportFault } from '../../src/core/answers/report-fault.ts'
import type { PluginCore } from '../../src/plugins/plugin.ts'

/** The `report` that a host gives to its plugins. */
export function reportTo(deps: FaultDeps): PluginCore['report'] {
  return (cause, context, line) => reportFault(cause, context, line, deps)
}

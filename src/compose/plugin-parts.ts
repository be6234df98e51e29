import { type FaultDeps, reportFault } from '../core/answers/report-fault.ts'
import { type ConfigProblem, SallyportError } from '../errors.ts'
import { isPromise } from '../model/awaitable.ts'
import type { PluginParts } from '../plugins/plugin.ts'

/** Most milliseconds of a policy, a guard or a link: a plugin that needs longer counts as unavailable. */
export const ANSWER_MS = 5_000

/** The parts of one plugin. */
export interface NamedParts {
  readonly plugin: string
  readonly parts: PluginParts
}

/** @param thrown What a plugin threw. */
export function configError(problems: readonly ConfigProblem[], ...thrown: readonly unknown[]): SallyportError {
  const [cause] = thrown
  return new SallyportError('config_invalid', 'Sallyport cannot start', problems, {
    ...(thrown.length > 0 && { cause }),
  })
}

/** Calls a function of a plugin, and does not wait for a promise that it returns. Its error is reported. Never throws. */
export function callPlugin(call: () => unknown, plugin: string, hook: string, deps: FaultDeps): void {
  const failed = (cause: unknown): void => reportPlugin(cause, plugin, hook, deps)
  try {
    const given = call()
    if (isPromise(given)) given.then(undefined, failed)
  } catch (cause) {
    failed(cause)
  }
}

/** Logs an error of a plugin, and gives it to `onError`. */
export function reportPlugin(cause: unknown, plugin: string, hook: string, deps: FaultDeps): void {
  reportFault(
    cause,
    { operation: 'plugin' },
    { level: 'error', event: 'plugin.failed', fields: { plugin, hook } },
    deps,
  )
}

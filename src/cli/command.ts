import type { Given, OptionKinds } from './arguments.ts'
import type { HostSallyport } from './host-module.ts'
import type { ExitCode, Terminal } from './terminal.ts'

/** A command of the command line. */
export interface Command {
  /** After the name of the command. */
  readonly usage: string
  readonly about: string
  readonly options: OptionKinds
  /** Lines of the help. */
  readonly help: readonly string[]
  /** It takes arguments that are no options. Default: no. */
  readonly takesIds?: true
  run(given: Given, terminal: Terminal): Promise<ExitCode>
}

/** Additions of a plugin to commands, which `commands.ts` in its folder exports. A host may lack the plugin. */
export interface PluginCommands {
  readonly status?: {
    /** Words of the help: what is shown. */
    readonly about: string
    /** `undefined` in a host without the plugin. */
    read(host: HostSallyport, of: { readonly tenant?: string }): Promise<StatusAddition | undefined>
  }
  readonly prune?: {
    /** Words of the help: what is removed. */
    readonly about: string
    /** Name of the count of what was removed. */
    readonly counted: string
    remove(host: HostSallyport, old: { readonly olderThan: number; readonly tenant?: string }): Promise<number>
  }
}

export interface StatusAddition {
  /** Members of the JSON. */
  readonly members: object
  readonly rows: readonly { readonly status: string; readonly count: string | number }[]
}

import type { Given, OptionKinds } from './arguments.ts'
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

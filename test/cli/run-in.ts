import { runCommand } from '../../src/cli/run-command.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command line in a folder, without a terminal or environment. */
export async function runIn(cwd: string, args: readonly string[]): Promise<Ran> {
  const printed = { out: '', err: '' }
  const code = await runCommand(args, {
    ...{ env: {}, cwd, isInteractive: false },
    out(text) {
      printed.out += text
    },
    err(text) {
      printed.err += text
    },
  })
  return { code, ...printed }
}

import { runCommand } from '../../src/cli/run-command.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface RunMore {
  /** Default: `false`. */
  readonly isInteractive?: boolean
  /** Default: no variable. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a command line in a folder, and keeps what it prints. */
export async function runIn(cwd: string, args: readonly string[], more: RunMore = {}): Promise<Ran> {
  const printed = { out: '', err: '' }
  const code = await runCommand(args, {
    ...{ env: {}, cwd, isInteractive: false, ...more },
    out(text) {
      printed.out += text
    },
    err(text) {
      printed.err += text
    },
  })
  return { code, ...printed }
}

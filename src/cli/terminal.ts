/** The process around a command. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder that relative paths start from. */
  readonly cwd: string
  /** Standard output goes to a person, not to a file or another program. */
  readonly isInteractive: boolean
  out(text: string): void
  err(text: string): void
}

/** Exit codes of every command. */
export const EXIT = {
  done: 0,
  /** The store, the host or a write failed. */
  failed: 1,
  /** The command line is wrong; nothing was done. */
  usage: 2,
  /** A given id was not found. */
  notFound: 3,
  /** The store cannot be used yet, such as before a migration. */
  notReady: 4,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A mistake of the command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

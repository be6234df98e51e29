import type { Parts } from './parts.ts'

/** A module that a coding agent wrote. */
export type Module = Readonly<Record<string, unknown>>

/** One task for a coding agent. */
export interface Task {
  /** The agent writes `<name>.ts`. */
  readonly name: string
  /** Markdown: the exported function with its signature, and its behaviour. */
  readonly text: string
  /** Rejects unless the module behaves as the text says. */
  readonly check: (module: Module, parts: Parts) => Promise<void>
}

/** Longest time of a check. */
const LIMIT_MS = 10_000

/**
 * Defines a task. `Solution` has the exported functions of the module.
 * @param check Asserts the behaviour, with the functions of the module.
 */
export function task<Solution extends object>(
  name: string,
  text: string,
  check: (solution: Solution, parts: Parts) => Promise<void>,
): Task {
  return { name, text: text.trim(), check: (module, parts) => check(module as Solution, parts) }
}

/** Runs a check with its own parts, and closes these. Rejects if the check fails or takes too long. */
export async function checkModule({ check }: Task, module: Module, parts: Parts): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the check took longer than ${LIMIT_MS} ms`)), LIMIT_MS)
  })
  try {
    await Promise.race([check(module, parts), late])
  } finally {
    clearTimeout(timer)
    await parts.close()
  }
}

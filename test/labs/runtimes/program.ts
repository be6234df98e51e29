import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Secrets } from './target.ts'

export type Command = readonly [program: string, ...args: readonly string[]]

/** Working folder and environment of a program, besides the secrets. */
export interface Surroundings {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** A program in its own process. */
export interface Program {
  readonly output: Readable
  /** Resolves when it has ended. */
  readonly exit: Promise<unknown>
  /** Its error output. */
  errors(): string
  close(): Promise<void>
}

export function start([program, ...args]: Command, { appSecret, keys }: Secrets, { cwd, env }: Surroundings): Program {
  const own = { ...env, APP_SECRET: appSecret, SESSION_KEYS: JSON.stringify(keys) }
  const child = spawn(program, args, { cwd, env: { ...process.env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-4_000)
  })
  const exit = once(child, 'exit')
  process.once('exit', () => child.kill('SIGKILL'))
  child.stdout.resume()
  return {
    output: child.stdout,
    exit,
    errors: () => errors,
    async close() {
      child.kill('SIGKILL')
      await exit
    },
  }
}

/** Starts a server of `hosts/`, and gives its ports by mount. */
export async function startServer(
  command: Command,
  secrets: Secrets,
  place: Surroundings,
): Promise<Program & { readonly ports: Readonly<Record<string, number>> }> {
  const program = start(command, secrets, place)
  const ports = await new Promise<Record<string, number>>((resolve, reject) => {
    createInterface({ input: program.output }).once('line', (line) => resolve(JSON.parse(line)))
    const ended = (): void => reject(new Error(`${command[0]} ended before it listened: ${program.errors()}`))
    program.exit.then(ended, reject)
  })
  return { ...program, ports }
}

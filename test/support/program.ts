import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A child process. */
export interface Program {
  /** All lines of stdout and stderr so far. */
  readonly lines: readonly string[]
  /** Resolves to the first line after `from` that contains a text. Rejects if the process ends without it. */
  line(text: string, from?: number): Promise<string>
  signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGUSR2'): void
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Starts Node with these arguments. */
export function startNode(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Program {
  const child: ChildProcess = spawn(process.execPath, args, {
    ...{ cwd, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...env },
  })
  const lines: string[] = []
  const pending = new Set<() => void>()
  const checkAll = (): void => {
    for (const check of [...pending]) check()
  }
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface(stream).on('line', (line) => [lines.push(line), checkAll()])
  }
  let isOver = false
  const ended = once(child, 'close').then(([code, signal]) => {
    isOver = true
    checkAll()
    return code ?? signal
  })
  return {
    lines,
    line: (text, from = 0) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const line = lines.slice(from).find((each) => each.includes(text))
          if (line === undefined && !isOver) return
          pending.delete(check)
          if (line !== undefined) resolve(line)
          else reject(new Error(`it ended without "${text}":\n${lines.join('\n')}`))
        }
        pending.add(check)
        check()
      }),
    signal: (name) => void child.kill(name),
    ended,
  }
}

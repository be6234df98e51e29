import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program in a process of its own. */
export interface Program {
  /** What it wrote until now, and what it complained of, by lines. */
  readonly lines: readonly string[]
  /** Resolves to the first line that holds a text, of those that come after `from` others. Rejects when it ends without. */
  line(text: string, from?: number): Promise<string>
  signal(name: 'SIGTERM' | 'SIGKILL'): void
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Starts Node with these arguments. */
export function startNode(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Program {
  const child: ChildProcess = spawn(process.execPath, args, {
    ...{ cwd, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...env },
  })
  const lines: string[] = []
  const looking = new Set<() => void>()
  const lookAgain = (): void => {
    for (const look of [...looking]) look()
  }
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface(stream).on('line', (line) => [lines.push(line), lookAgain()])
  }
  let isOver = false
  const ended = once(child, 'close').then(([code, signal]) => {
    isOver = true
    lookAgain()
    return code ?? signal
  })
  return {
    lines,
    line: (text, from = 0) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const line = lines.slice(from).find((each) => each.includes(text))
          if (line === undefined && !isOver) return
          looking.delete(look)
          if (line !== undefined) resolve(line)
          else reject(new Error(`it ended without "${text}":\n${lines.join('\n')}`))
        }
        looking.add(look)
        look()
      }),
    signal: (name) => void child.kill(name),
    ended,
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'

/** Redis of one test. */
export interface RedisServer {
  readonly port: number
  /** Resolves when it accepts connections. The port stays the same. */
  start(): Promise<void>
  /** Ends it by SIGKILL. */
  kill(): Promise<void>
  /** Kills it and removes its folder. */
  remove(): Promise<void>
}

/** It is empty after each start. */
const NO_PERSISTENCE = ['--save', '', '--appendonly', 'no']

/** @param persistence Arguments of `redis-server`; `[]` for its own defaults. */
export async function redisServer(persistence: readonly string[] = NO_PERSISTENCE): Promise<RedisServer> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-redis-'))
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, ...persistence]
    const starting = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'ignore'] })
    child = starting
    starting.stdout.setEncoding('utf8')
    let output = ''
    for await (const text of starting.stdout) {
      output += text
      if (output.includes('Ready to accept connections')) break
    }
    if (!output.includes('Ready to accept connections')) throw new Error(`redis-server ended: ${output}`)
    starting.stdout.destroy()
  }

  async function kill(): Promise<void> {
    const dying = child
    child = undefined
    if (!dying || dying.exitCode !== null) return
    const ended = once(dying, 'exit')
    dying.kill('SIGKILL')
    await ended
  }

  return {
    port,
    start,
    kill,
    async remove() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

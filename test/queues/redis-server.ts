import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'

/** Redis of one test without persistence: it is empty after each start. */
export interface RedisServer {
  readonly port: number
  /** Resolves when it accepts connections. The port stays the same. */
  start(): Promise<void>
  /** Ends it by SIGKILL. */
  kill(): Promise<void>
  /** Kills it and removes its folder. */
  remove(): Promise<void>
}

export async function redisServer(): Promise<RedisServer> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-redis-'))
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
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

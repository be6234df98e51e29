import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { freePort } from '../support/free-port.ts'

/** MariaDB of one test file, in a folder of its own. Its user `root` has no password. */
export interface MariadbServer {
  readonly port: number
  /** Ends it by SIGKILL and removes its folder. */
  close(): Promise<void>
}

/** The reason why no MariaDB can be started; `undefined` if one can. */
export function noMariadb(): string | undefined {
  const isThere = ['mariadbd', 'mariadb-install-db'].every((name) => spawnSync(name, ['--help']).error === undefined)
  return isThere ? undefined : 'there is no mariadbd, or no mariadb-install-db, on the path'
}

/** Resolves when it answers. @param settings Further options of `mariadbd`. */
export async function startMariadb(settings: readonly string[] = []): Promise<MariadbServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-mariadb-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const user = process.getuid?.() === 0 ? ['--user=root'] : []
  const own = ['--no-defaults', `--datadir=${join(folder, 'data')}`, ...user]
  const made = spawnSync('mariadb-install-db', [...own, '--auth-root-authentication-method=normal', '--skip-test-db'])
  if (made.status !== 0) throw new Error(`mariadb-install-db: ${made.stderr}`)
  const port = await freePort()
  const where = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(folder, 'socket')}`]
  const child = spawn('mariadbd', [...own, ...where, `--pid-file=${join(folder, 'pid')}`, ...settings], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  await readiness(child.stderr)
  return {
    port,
    async close() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when the log of a server says that it takes connections. */
async function readiness(log: Readable): Promise<void> {
  for await (const line of createInterface({ input: log })) {
    if (!line.includes('ready for connections')) continue
    // What follows is not read, and must not block the server.
    log.resume()
    return
  }
  throw new Error('mariadbd ended before it took connections')
}

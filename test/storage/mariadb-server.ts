import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { freePort } from '../support/free-port.ts'

/** MariaDB of one test file, in a folder of its own. Its user `root` has no password. */
export interface MariadbServer {
  readonly port: number
  /** Ends it by SIGKILL and removes its folder. */
  close(): Promise<void>
}

const LOOK_MS = 20

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
  const child: ChildProcess = spawn('mariadbd', [...own, ...where, `--pid-file=${join(folder, 'pid')}`, ...settings], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  for (;;) {
    const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' }).catch(() => undefined)
    await connection?.end()
    if (connection) break
    if (hasEnded) throw new Error('mariadbd ended before it answered')
    await new Promise((resolve) => void setTimeout(resolve, LOOK_MS))
  }
  return {
    port,
    async close() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

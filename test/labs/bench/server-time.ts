import { readdir, readFile } from 'node:fs/promises'
import type { Redis } from 'ioredis'
import type pg from 'pg'

/** Milliseconds of processor time that all processes of a server have used since it started. */
export type ServerTime = () => Promise<number>

/** Milliseconds in a tick of `/proc`, which Linux counts 100 times a second. */
const TICK_MS = 10

interface ProcessTimes {
  readonly parent: number
  readonly own: number
  /** Of ended children. */
  readonly children: number
}

/**
 * The processor time of a PostgreSQL cluster: of the postmaster, its processes, and its ended processes. It counts all
 * databases of the cluster, so nothing else may use it. `undefined` if the server runs on another machine or in another
 * process namespace.
 */
export async function postgresTime(pool: pg.Pool): Promise<ServerTime | undefined> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  const backend = await timesOf(String(rows[0]?.pid))
  if (backend === undefined || !(await isPostgres(backend.parent))) return undefined
  const postmaster = backend.parent
  return async () => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const all = await Promise.all(pids.map(async (pid) => ({ pid: Number(pid), times: await timesOf(pid) })))
    const ticks = all.map(({ pid, times }) => {
      if (times === undefined) return 0
      if (pid === postmaster) return times.own + times.children
      return times.parent === postmaster ? times.own : 0
    })
    return ticks.reduce((sum, one) => sum + one, 0) * TICK_MS
  }
}

/** The processor time of a Redis server, as it tells itself. */
export function redisTime(redis: Redis): ServerTime {
  return async () => {
    const info = await redis.info('cpu')
    const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, text]) => Number(text))
    return seconds.reduce((sum, one) => sum + one, 0) * 1000
  }
}

async function isPostgres(pid: number): Promise<boolean> {
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  return /^(?:postgres|postmaster)/.test(name)
}

/** Reads `/proc/<pid>/stat`; `undefined` if there is no such process. */
async function timesOf(pid: string): Promise<ProcessTimes | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  // The name, in parentheses, may contain spaces. After it: state, parent, …, utime, stime, cutime, cstime.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [1, 11, 12, 13, 14].map((at) =>
    Number(fields[at]),
  )
  return { parent, own: user + system, children: childUser + childSystem }
}

import { readFile } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { type RedisServer, redisServer } from '../../queues/redis-server.ts'
import { postgresCluster } from './database-servers.ts'
import { hostLauncher } from './hosts.ts'
import type { PeerName, PeerSettings } from './peer.ts'
import type { PeerVerdict } from './peer-verdict.ts'
import { killPeer, LONG_PEERS } from './peers.ts'
import { writePeers } from './peers-report.ts'
import { versionOf } from './place.ts'

/** Those that are expected to wait longest come first, since the others run during their windows. */
const PEERS: readonly PeerName[] = ['graphile-worker', 'pg-boss', 'BullMQ', 'Sallyport']

/** Kills hosts of each queue, and writes the comparison. Without a Redis it skips BullMQ. */
export async function comparePeers(seeds: number, redisVersion: string | undefined): Promise<void> {
  const since = Date.now()
  const elapsed = (): string => {
    const s = Math.round((Date.now() - since) / 1_000)
    return `${Math.floor(s / 60)} min ${s % 60} s`
  }
  const [launcher, cluster] = await Promise.all([hostLauncher<PeerSettings>('peer-host.ts'), postgresCluster()])
  const redis = redisVersion === undefined ? undefined : await redisServer([])
  const names = PEERS.filter((name) => redis || name !== 'BullMQ')
  const absent = redis ? [] : ['BullMQ: there is no redis-server on the path']
  const versions = [`Node ${process.version}`]
  const verdicts: PeerVerdict[] = []
  try {
    await redis?.start()
    versions.push(await versionOf(await cluster.open()))
    if (redis) versions.push(`Redis ${redisVersion} (${await persistenceOf(redis)})`)
    for (const name of names) if (name !== 'Sallyport') versions.push(await packageOf(name))
    for (let seed = 1; seed <= seeds; seed++) {
      const settling: Promise<PeerVerdict>[] = []
      for (const peer of names) {
        console.log(`[after ${elapsed()}] ${peer}, seed ${seed}`)
        const at = { place: await cluster.open(), ...(redis && { redisPort: redis.port }) }
        const killed = await killPeer({ launcher, peer, seed, ...at }, LONG_PEERS)
        const verdict = killed.verdict()
        verdict.then((one) => console.log(`  [after ${elapsed()}]`, one)).catch(() => {})
        settling.push(verdict)
      }
      verdicts.push(...(await Promise.all(settling)))
    }
  } finally {
    await Promise.all([launcher.close(), cluster.close(), redis?.remove()])
  }
  for (const reason of absent) console.log(`skipped: ${reason}`)
  const command = `npm run chaos -- --peers --seeds ${seeds}`
  await writePeers(verdicts, LONG_PEERS, { command, versions, absent, took: elapsed() })
}

/** Its settings of persistence. */
async function persistenceOf({ port }: RedisServer): Promise<string> {
  const client = new Redis(port, '127.0.0.1')
  const [, save] = (await client.config('GET', 'save')) as string[]
  const [, appendonly] = (await client.config('GET', 'appendonly')) as string[]
  client.disconnect()
  return `its defaults: save ${save}; appendonly ${appendonly}`
}

/** Name and version of an installed package. */
async function packageOf(name: PeerName): Promise<string> {
  const file = new URL(`../../../node_modules/${name.toLowerCase()}/package.json`, import.meta.url)
  const { version } = JSON.parse(await readFile(file, 'utf8'))
  return `${name} ${version}`
}

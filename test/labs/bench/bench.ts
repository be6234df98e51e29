/**
 * `npm run bench` measures the built package. Every figure is a ratio of two values of the same run. `npm run bench --
 * novu` runs one part; `-- delivery --plot` also draws it.
 */
import { existsSync, readdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { benchBodies } from './bodies.ts'
import { benchColdImport } from './cold-import.ts'
import { benchConsoles } from './consoles.ts'
import { benchDelivery } from './delivery.ts'
import { benchFairShares } from './fair-shares.ts'
import { benchInHost } from './in-host.ts'
import { benchInProcess } from './in-process.ts'
import { benchLists } from './lists.ts'
import { benchNovu } from './novu.ts'
import { benchOverHttp } from './over-http.ts'
import { benchRecording } from './recording.ts'
import { benchStop } from './stop.ts'
import { benchStorage } from './storage.ts'
import { benchBacklog } from './storage-backlog.ts'
import { benchHeldSnapshot } from './storage-held-snapshot.ts'

const PLUGINS = new URL('../../plugins/', import.meta.url)

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  'in-process': benchInProcess,
  recording: benchRecording,
  novu: benchNovu,
  delivery: benchDelivery,
  'cold-import': benchColdImport,
  'over-http': benchOverHttp,
  'in-host': benchInHost,
  consoles: benchConsoles,
  storage: benchStorage,
  bodies: benchBodies,
  stop: benchStop,
  backlog: benchBacklog,
  'held-snapshot': benchHeldSnapshot,
  lists: benchLists,
  'fair-shares': benchFairShares,
  ...(await partsOfPlugins()),
}

/** The function `bench` of each `test/plugins/<name>/bench.ts`. */
async function partsOfPlugins(): Promise<typeof PARTS> {
  const own = readdirSync(PLUGINS).filter((name) => existsSync(new URL(`${name}/bench.ts`, PLUGINS)))
  const parts = own.map(async (name) => [name, (await import(`${PLUGINS}${name}/bench.ts`)).bench])
  return Object.fromEntries(await Promise.all(parts))
}

const wanted = process.argv[2]
console.log(
  `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}. Medians, (lowest-highest) over the rounds.`,
)
for (const [name, bench] of Object.entries(PARTS)) if (wanted === undefined || wanted === name) await bench()

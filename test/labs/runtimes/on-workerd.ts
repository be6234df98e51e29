import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { bundleWorker, textOf } from './bundle.ts'
import type { CheckGroup } from './checks/check.ts'
import { documentedHost } from './checks/documented.ts'
import { memoryContracts, withoutHttp } from './checks/inside.ts'
import { impossibleWebhook } from './checks/webhook.ts'
import { wire } from './checks/wire.ts'
import { bundledEntries } from './checks/worker-entries.ts'
import { moduleOnPage } from './page.ts'
import { fetchPackage } from './registry.ts'
import type { Runtime, Site, Visit } from './runtime.ts'

/** The last version that runs on Node 20. */
const MINIFLARE = '4.20260426.0'
const COMPATIBILITY_DATE = '2026-04-01'

/** The part that is used. */
interface Miniflare {
  readonly ready: Promise<URL>
  dispatchFetch(url: string): Promise<{ json(): Promise<unknown> }>
  dispose(): Promise<void>
}

/** Starts a worker from modules by name; the first is the main module. */
export type StartWorker = (
  modules: Readonly<Record<string, string>>,
  bindings?: Readonly<Record<string, string>>,
) => Miniflare

interface Kind {
  readonly name: string
  /** A file in `hosts/`; absent: the program on the page. */
  readonly program?: string
  readonly flags: readonly string[]
  /** The bundler's treatment of Node's modules. */
  readonly node: 'left' | 'stripped'
  readonly groups: readonly CheckGroup[]
}

const KINDS: readonly Kind[] = [
  {
    ...{ name: '', program: 'worker.ts', flags: [], node: 'stripped' },
    groups: [...wire, withoutHttp, impossibleWebhook('workerd')],
  },
  {
    ...{ name: ', nodejs_compat', program: 'worker-with-node.ts', flags: ['nodejs_compat'], node: 'left' },
    groups: [...wire, withoutHttp, memoryContracts, impossibleWebhook('workerd')],
  },
  { name: ', as documented', flags: [], node: 'stripped', groups: [documentedHost] },
]

/** A plain worker, and one with `nodejs_compat`. */
export const onWorkerd: Runtime = {
  name: 'workerd',
  async open(site) {
    const folder = await fetchPackage(site.cache, 'miniflare', MINIFLARE)
    const require = createRequire(`${folder}/`)
    const { Miniflare } = require('miniflare')
    const { version } = require('workerd/package.json')
    const workers: Miniflare[] = []
    const visits: Visit[] = []
    const close = async () => void (await Promise.all(workers.map((worker) => worker.dispose())))
    try {
      for (const kind of KINDS) {
        const start: StartWorker = (modules, bindings = {}) =>
          new Miniflare({
            modules: Object.entries(modules).map(([path, contents]) => ({ type: 'ESModule', path, contents })),
            ...{ compatibilityDate: COMPATIBILITY_DATE, compatibilityFlags: kind.flags, bindings },
            ...{ host: '127.0.0.1', port: 0, handleRuntimeStdio: discard },
          })
        const worker = start({ 'worker.js': await programOf(kind, site) }, bindingsOf(site))
        workers.push(worker)
        const target = {
          name: `workerd ${version}${kind.name}`,
          origin: (await worker.ready).origin,
          ...{ secrets: site.secrets, waitsUntil: true },
        }
        const entries = kind.program === undefined ? [] : [await bundledEntries(start, kind.node === 'left', site)]
        visits.push({ target, groups: [...entries, ...kind.groups] })
      }
    } catch (error) {
      await close()
      throw error
    }
    return { visits, close }
  },
}

/** Discards what workers print. */
function discard(...streams: readonly Readable[]): void {
  for (const stream of streams) stream.resume()
}

async function programOf({ program, node }: Kind, { project }: Site): Promise<string> {
  const source =
    program === undefined
      ? { text: moduleOnPage('Workers'), folder: project }
      : { file: join(project, 'hosts', program) }
  return textOf(
    await bundleWorker(source, node === 'left' ? { leaves: ['node:*'] } : { strips: join(project, 'empty.js') }),
  )
}

function bindingsOf({ secrets }: Site): Record<string, string> {
  return { APP_SECRET: secrets.appSecret, SESSION_KEYS: JSON.stringify(secrets.keys) }
}

import { deepEqual } from 'node:assert/strict'
import { ENTRIES, nodeModulesOf } from '../../../package/entries.ts'
import { type Bundle, bundleWorker } from '../bundle.ts'
import type { StartWorker } from '../on-workerd.ts'
import type { Site } from '../runtime.ts'
import type { CheckGroup } from './check.ts'

/** Responds with the names of every imported module, or with the error of its import. */
const LOADER = `export default {
  async fetch(_, { MODULES }) {
    const loaded = JSON.parse(MODULES).map(async (name) => [name, await import(name).then(Object.keys, String)])
    return Response.json(Object.fromEntries(await Promise.all(loaded)))
  },
}`

/** Bundles and loads every entry separately. An entry that cannot load must fail to bundle. */
export async function bundledEntries(start: StartWorker, hasNode: boolean, site: Site): Promise<CheckGroup> {
  const bundles = new Map<string, Bundle>()
  for (const entry of Object.keys(ENTRIES)) {
    const program = { text: `export * from '${entry}'`, folder: site.project }
    bundles.set(entry, await bundleWorker(program, hasNode ? { leaves: ['node:*'] } : {}))
  }
  const loaded = await load(start, bundles)
  const checkOf = (entry: string) => ({
    name: entry,
    async run() {
      const bundle = bundles.get(entry)
      const errors = bundle && 'errors' in bundle ? bundle.errors : []
      const missing = hasNode ? [] : nodeModulesOf(entry)
      if (missing.length === 0) {
        deepEqual(errors, [])
        deepEqual([...(loaded[entry] ?? [])].sort(), [...(site.names[entry] ?? [])].sort())
      } else {
        const unsaid = missing.filter((name) => !errors.includes(`Could not resolve "${name}"`))
        deepEqual(unsaid, [], `bundling it says ${JSON.stringify(errors)}`)
      }
    },
  })
  return { name: 'entries', checks: Object.keys(ENTRIES).map(checkOf) }
}

async function load(
  start: StartWorker,
  bundles: ReadonlyMap<string, Bundle>,
): Promise<Record<string, string[] | string>> {
  const texts = Object.fromEntries([...bundles].flatMap(([entry, one]) => ('text' in one ? [[entry, one.text]] : [])))
  const worker = start({ 'loader.js': LOADER, ...texts }, { MODULES: JSON.stringify(Object.keys(texts)) })
  try {
    return (await (await worker.dispatchFetch('http://worker/')).json()) as Record<string, string[] | string>
  } finally {
    await worker.dispose()
  }
}
